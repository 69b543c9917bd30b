package transcript

import (
	"fmt"
	"slices"
)

// maxNotes is how many notes a report holds; its counts go on.
const maxNotes = 200

// Report says what became of a transcript's records. Read is always the sum of
// Kept and Skipped.
type Report struct {
	Format   string `json:"format"`
	Title    string `json:"title,omitempty"` // the source's own name for the conversation
	Read     int    `json:"read"`            // records found, blank lines and headers aside
	Kept     int    `json:"kept"`            // records that became messages
	Skipped  int    `json:"skipped"`         // records that did not
	Repaired int    `json:"repaired"`        // times that something was added, moved or reshaped
	Notes    []Note `json:"notes,omitempty"` // why, for the first of the skipped and repaired
	Unnoted  int    `json:"unnoted,omitempty"`
}

// Note says why a record was skipped or repaired.
type Note struct {
	Line   int64  `json:"line"` // from 1: the line of a log, the message of an array; 0: none
	Reason string `json:"reason"`
}

// String is the report as one line for people.
func (r Report) String() string {
	return fmt.Sprintf("%s: %d read, %d kept, %d repaired, %d skipped", r.Format, r.Read, r.Kept, r.Repaired, r.Skipped)
}

func (r *Report) kept() {
	r.Read++
	r.Kept++
}

func (r *Report) skipped(line int64, reason string) {
	r.Read++
	r.Skipped++
	r.note(line, reason)
}

func (r *Report) repaired(line int64, reason string) {
	r.Repaired++
	r.note(line, reason)
}

// leftAside says that n records set aside had no message after them.
func (r *Report) leftAside(n int) {
	switch {
	case n == 1:
		r.note(0, "a record that is no message stands at the end; no message carries it")
	case n > 1:
		r.note(0, fmt.Sprintf("%d of the records that are no messages stand at the end; no message carries them", n))
	}
}

func (r *Report) note(line int64, reason string) {
	if len(r.Notes) == maxNotes {
		r.Unnoted++
		return
	}
	r.Notes = append(r.Notes, Note{line, reason})
}

func (r *Report) clone() Report {
	c := *r
	c.Notes = slices.Clone(r.Notes)
	return c
}
