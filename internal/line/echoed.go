package line

import "strings"

// ownBytes is how long a sentence must be to be known as one of ours: shorter
// ones are anyone's.
const ownBytes = 20

// complaintWords is what [askAgain] says, as far as it is the same each time.
const complaintWords = `Write these again, in the same form and nothing else
there was no line for it
its text does not hold
Leave out what its text does not hold
bytes too long, leave out about one part in
All after this would be cut off
Write these entries
The lines before, only to understand what follows
---------|---------|`

// ownSentences are the sentences that a model is told, flattened. A line that
// repeats one tells of us, not of what was said.
func ownSentences(guide string) []string {
	var out []string
	seen := map[string]bool{}
	for l := range strings.Lines(instructions(guide) + "\n" + complaintWords) {
		for s := range strings.SplitSeq(sentenceEnds.Replace(strings.TrimSpace(l)), "\n") {
			s = strings.Trim(flattened(entryHead.ReplaceAllString(s, "")), ".: ")
			if len(s) >= ownBytes && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// sentenceEnds parts what a copy may leave out.
var sentenceEnds = strings.NewReplacer(": ", "\n", "; ", "\n", ". ", "\n")

// flattened is a text without the differences that a copy may have.
func flattened(s string) string { return strings.ToLower(spaced(s)) }

// echoes says whether the line repeats one of the sentences, which its sources do
// not.
func echoes(line string, sentences, sources []string) bool {
	line = flattened(line)
	source := flattened(strings.Join(sources, "\n"))
	for _, s := range sentences {
		if strings.Contains(line, s) && !strings.Contains(source, s) {
			return true
		}
	}
	return false
}
