package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"math"
)

// piPath says which lines of a session's tree are on the path to its last entry.
// While it is made it takes about thirty bytes a line, then five. A nil path is
// that of a list: it has every line.
type piPath struct {
	// parent of each line's entry, by line number: 0 for a root, notEntry, or orphan.
	// A negative one is a parent that was lost and replaced by the entry before.
	parent []int32
	on     []bool
	twins  map[int64]bool // lines whose entry has the id of an earlier one
}

const (
	notEntry = math.MaxInt32
	orphan   = math.MinInt32
)

var errList = errors.New("a list, not a tree")

// findPiPath reads the source once. The parent of an entry always stands before
// it, so there are no cycles.
func findPiPath(ctx context.Context, src io.Reader) (*piPath, error) {
	b := piPathBuilder{path: &piPath{parent: []int32{notEntry}, twins: map[int64]bool{}}, byID: map[uint64]int32{}}
	err := eachLine(ctx, src, b.line)
	if errors.Is(err, errList) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !b.headed {
		return nil, nil
	}
	b.path.walk(b.last)
	return b.path, nil
}

type piPathBuilder struct {
	path   *piPath
	byID   map[uint64]int32
	last   int32 // line of the entry before
	torn   bool  // a line since then could not be read
	headed bool
}

func (b *piPathBuilder) line(number int64, line []byte, tooLong error) error {
	if number >= notEntry {
		return errors.New("the session has too many lines")
	}
	for int64(len(b.path.parent)) <= number {
		b.path.parent = append(b.path.parent, notEntry)
	}
	var head struct {
		Type    json.RawMessage
		Version json.RawMessage
		ID      json.RawMessage
		Parent  json.RawMessage `json:"parentId"`
	}
	if tooLong != nil || json.Unmarshal(line, &head) != nil {
		b.torn = true
		return nil
	}
	if string(head.Type) == `"`+piHeader+`"` {
		var version float64
		if !b.headed && (json.Unmarshal(head.Version, &version) != nil || version < 2) {
			return errList
		}
		b.headed = true
		return nil
	}
	b.entry(int32(number), head.ID, head.Parent)
	return nil
}

// entry places an entry in the tree.
func (b *piPathBuilder) entry(line int32, id, parent json.RawMessage) {
	b.path.parent[line] = b.parentOf(id, parent)
	b.last, b.torn = line, false
	if isNull(id) {
		return
	}
	h := hashID(id)
	if _, ok := b.byID[h]; ok {
		b.path.twins[int64(line)] = true
	}
	b.byID[h] = line
}

func (b *piPathBuilder) parentOf(id, parent json.RawMessage) int32 {
	if isNull(id) { // as in a list
		return b.last
	}
	if isNull(parent) {
		return 0
	}
	if p, ok := b.byID[hashID(parent)]; ok {
		return p
	}
	if b.torn && b.last > 0 { // the unreadable line was the parent
		return -b.last
	}
	return orphan
}

// walk marks the path from the leaf to its root.
func (p *piPath) walk(leaf int32) {
	p.on = make([]bool, len(p.parent))
	for line := leaf; line > 0; {
		p.on[line] = true
		up := p.parent[line]
		switch {
		case up == orphan:
			return
		case up < 0:
			up = -up
		}
		line = up
	}
}

// isEntry says whether the line could be read as an entry of the tree.
func (p *piPath) isEntry(line int64) bool { return p != nil && p.parent[line] != notEntry }

func (p *piPath) has(line int64) bool { return p == nil || p.on[line] }

func (p *piPath) isTwin(line int64) bool { return p != nil && p.twins[line] }

// mended says what is wrong with the entry's parent, "" where nothing is.
func (p *piPath) mended(line int64) string {
	switch {
	case !p.isEntry(line):
		return ""
	case p.parent[line] == orphan:
		return "the entry's parent is not in the file; the conversation begins with it"
	case p.parent[line] < 0:
		return "the entry's parent could not be read; the entry follows the one before it"
	}
	return ""
}

func hashID(id json.RawMessage) uint64 {
	h := fnv.New64a()
	h.Write(id)
	return h.Sum64()
}
