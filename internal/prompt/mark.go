package prompt

import (
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// marks says up to where the provider should cache: the instructions, the
// outline's last whole block, where the request before ended, and the end.
func (l *Layout) marks(f fixed) []model.Mark {
	if l.Rules.MaxMarks == 0 || len(l.out) == 0 {
		return nil
	}
	weight := 0
	for _, t := range f.tools {
		weight += toolWeight(t)
	}
	for _, s := range f.system {
		weight += thread.Weight(s)
	}
	var out []model.Mark
	add := func(m model.Mark, weight int) {
		if l.Rules.Scale(weight) < l.Rules.MinCache {
			return
		}
		if n := len(out); n > 0 && out[n-1].Message == m.Message && out[n-1].Part == m.Part {
			n--
			out = out[:n]
		}
		out = append(out, m)
	}
	if len(f.system) > 0 {
		add(model.Mark{Name: "instructions", Message: -1}, weight)
	}
	if at := l.chatAt(); at >= 0 {
		if whole := len(l.Lines) / blockLines; whole > 0 {
			add(model.Mark{Name: "outline", Message: at, Part: whole}, weight+l.weight(0, at)+weigh(l.out[at].Parts[:whole+1]))
		}
	}
	if at := l.endOf(l.previous()); at >= 0 {
		add(model.Mark{Name: "previous", Message: at, Part: lastSpoken(l.out[at])}, weight+l.weight(0, at+1))
	}
	end := len(l.out) - 1
	add(model.Mark{Name: "end", Message: end, Part: lastSpoken(l.out[end])}, weight+l.weight(0, end+1))
	return out[max(0, len(out)-l.Rules.MaxMarks):]
}

// lastSpoken is the last part that a mark may stand at.
func lastSpoken(p placed) int {
	for i := len(p.Parts) - 1; i > 0; i-- {
		if isSpoken(p.Parts[i]) {
			return i
		}
	}
	return 0
}
