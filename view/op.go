package view

import (
	"encoding/json"
	"fmt"

	"github.com/skeinhq/skein/thread"
)

// Batch is what changes a view in one step. N counts the batches of a watch.
type Batch struct {
	N   int64 `json:"n"`
	Ops []Op  `json:"ops"`
}

// The codes of operations.
const (
	ReplaceOp = "r" // ["r", view]
	SpliceOp  = "p" // ["p", ["entries"], index, remove, [items]]
	SetOp     = "s" // ["s", path, value]
	DeleteOp  = "d" // ["d", path]
	AppendOp  = "a" // ["a", path, offset, text]
)

// Op is one operation. Which fields are set follows from Code; on the wire it is
// an array.
type Op struct {
	Code   string
	Path   []string        // all but replace
	View   *View           // replace
	Index  int             // splice
	Remove int             // splice
	Items  []Entry         // splice
	Value  json.RawMessage // set
	Offset int             // append: bytes of the text so far, in UTF-8
	Text   string          // append
}

// Replace makes the operation that replaces everything.
func Replace(v *View) Op { return Op{Code: ReplaceOp, View: v} }

// Splice makes the operation that takes remove entries off the window at index
// and puts items there.
func Splice(index, remove int, items ...Entry) Op {
	return Op{Code: SpliceOp, Path: []string{"entries"}, Index: index, Remove: remove, Items: items}
}

// Set makes the operation that sets the field at path.
func Set(value json.RawMessage, path ...string) Op { return Op{Code: SetOp, Path: path, Value: value} }

// Delete makes the operation that removes the field at path.
func Delete(path ...string) Op { return Op{Code: DeleteOp, Path: path} }

// Append makes the operation that appends to the text at path.
func Append(offset int, text string, path ...string) Op {
	return Op{Code: AppendOp, Path: path, Offset: offset, Text: text}
}

// MarshalJSON writes the operation as an array.
func (o Op) MarshalJSON() ([]byte, error) {
	switch o.Code {
	case ReplaceOp:
		return thread.Encode([]any{o.Code, o.View})
	case SpliceOp:
		items := o.Items
		if items == nil {
			items = []Entry{}
		}
		return thread.Encode([]any{o.Code, o.Path, o.Index, o.Remove, items})
	case SetOp:
		return thread.Encode([]any{o.Code, o.Path, o.Value})
	case DeleteOp:
		return thread.Encode([]any{o.Code, o.Path})
	case AppendOp:
		return thread.Encode([]any{o.Code, o.Path, o.Offset, o.Text})
	}
	return nil, fault(BadOp, "%q is no operation", o.Code)
}

// UnmarshalJSON reads what MarshalJSON writes. Something else after an
// operation's parts is passed over. It fails with a [Fault].
func (o *Op) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return fault(BadOp, "an operation is not an array: %v", err)
	}
	*o = Op{}
	if len(parts) == 0 || json.Unmarshal(parts[0], &o.Code) != nil {
		return fault(BadOp, "an operation does not begin with its code")
	}
	into, known := o.parts()
	if !known {
		return fault(BadOp, "%q is no operation", o.Code)
	}
	if len(parts)-1 < len(into) {
		return fault(BadOp, "the operation %q has %d parts, not %d", o.Code, len(parts)-1, len(into))
	}
	for i, p := range into {
		if err := json.Unmarshal(parts[i+1], p); err != nil {
			return fault(BadOp, "part %d of the operation %q: %v", i+1, o.Code, err)
		}
	}
	return nil
}

// parts says where an operation's parts are read into.
func (o *Op) parts() (into []any, known bool) {
	switch o.Code {
	case ReplaceOp:
		return []any{&o.View}, true
	case SpliceOp:
		return []any{&o.Path, &o.Index, &o.Remove, &o.Items}, true
	case SetOp:
		return []any{&o.Path, &o.Value}, true
	case DeleteOp:
		return []any{&o.Path}, true
	case AppendOp:
		return []any{&o.Path, &o.Offset, &o.Text}, true
	}
	return nil, false
}

// FaultCode says what is wrong with a batch.
type FaultCode string

// The codes of faults. There is one rule for all: drop the view and watch again.
const (
	Gap       FaultCode = "gap"       // the batch does not follow the one before
	BadIndex  FaultCode = "index"     // a splice outside the window
	BadOffset FaultCode = "offset"    // an append that is not at the text's end
	BadOp     FaultCode = "operation" // no such operation, or a malformed one
	BadPath   FaultCode = "path"      // there is nothing of that kind at the path
	BadValue  FaultCode = "value"     // the value does not fit the path
	Broken    FaultCode = "broken"    // what comes out is no view
	Stale     FaultCode = "stale"     // a page of another epoch or branch: fetch it again
)

// Fault is the error of a batch that cannot be applied, or of a page that does
// not belong to the view.
type Fault struct { //nolint:errname // what the protocol calls it; view.FaultError would say the same twice
	Code   FaultCode
	Reason string
}

// Error says what is wrong.
func (f *Fault) Error() string { return f.Reason }

func fault(code FaultCode, format string, args ...any) *Fault {
	return &Fault{Code: code, Reason: fmt.Sprintf(format, args...)}
}
