package tui

import (
	"crypto/sha256"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// An effect is something the model wants done outside of it.
type effect any

// The effects.
type (
	loadPage struct { // read messages
		from, to int64
		age      int // of what the page is for
	}
	sayText     struct{ key, text, when string } // say something, then answer
	answerNow   struct{}                         // answer what waits for an answer
	answerAgain struct{}                         // the same, or make the newest answer again
	stopAnswer  struct{}                         // stop the turn, whoever runs it
	decideCall  struct {                         // allow or deny a call that waits
		approval thread.Approval
		sum      *[sha256.Size]byte // of the card that was looked at; nil: none was
	}
	compactNow  struct{}                   // let the strategies act
	readStatus  struct{}                   // read what the status line says
	readOutline struct{}                   //
	openLine    struct{ span thread.Span } // zoom
	findWords   struct{ query string }     // search
	listThreads struct{}                   //
	openThread  struct{ id string }        // switch, or make
	runCommand  struct{ text string }      // a slash command
	keepDraft   struct{ draft draft }      // what is typed and not said
	leave       struct{}                   //
	suspend     struct{}                   // give the terminal to the shell for a while
)

// What comes back. Each names the sitting it was asked in: what belongs to a
// thread that was left is dropped.
type (
	opened struct {
		sitting   int
		id        string
		length    int64
		draft     draft
		answering bool
		status    status
		page      pageRead // the newest messages
		problem   error
	}
	pageRead struct {
		sitting  int
		age      int // as it was asked for
		from     int64
		messages []message
		err      error
	}
	said struct {
		sitting int
		key     string
		seq     int64
		queued  bool
		remark  string // what is to be said of whom it names
		err     error
	}
	answering struct {
		sitting int
		on      bool
		parked  bool  // it waits for a decision, and nobody owns the turn
		fresh   int64 // where none is made: the first reading of a status that knows of it
		stopped bool  // somebody stopped it
		err     error // why it ended
	}
	happened struct { // what was committed and what came of answers, in order
		sitting int
		events  []event
		tip     int64 // of the log after the last commit; 0: nothing was committed
		length  int64
		backlog int64
	}
	fellBehind struct{ sitting int } // events were lost: all is read anew
	statusRead struct {
		sitting int
		status  status
		err     error
	}
	outlineRead struct {
		sitting  int
		outline  skein.Outline
		strategy string // names, joined by commas; empty: the outline, as far as is known
		err      error
	}
	warned struct{ text string } // of no thread
	ticked struct {              // a second has passed
		sitting int
	}
	decided struct { // a decision is in the log, or why not
		sitting int
		call    string
		err     error
	}
	effectDone struct { // an effect that shows nothing by itself
		sitting int
		text    string
		err     error
	}
	lineOpened struct {
		sitting int
		span    thread.Span
		zoomed  skein.Zoomed
		err     error
	}
	wordsFound struct {
		sitting int
		query   string
		results skein.Results
		err     error
	}
	threadsRead struct {
		sitting int
		threads []thread.Thread
		err     error
	}
	commandRan struct {
		sitting int
		text    string
		output  string
		moved   string // the thread to go on in; empty: the same
		anew    bool   // the past has changed
		left    bool
		err     error
	}
)

// verdict is what was decided of a call, in words.
type verdict struct{ call, note string }

// event is one thing that happened in a thread.
type event struct {
	piece   *piece
	message *message
	taken   int64    // seq of the queued entry that message was
	key     string   // the client's key of what was said
	queued  *waiting // said while a turn ran
	undone  bool     // a rewind or a reset
	aside   *aside   // a cut, or a limit that was reached
	warning string   // safe
	asked   bool     // a call waits for a decision
	decided *verdict // one was decided
	begun   *printed // a call runs
	printed *printed // and has printed something
	title   *string
}
