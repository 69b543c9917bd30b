package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// Options say what events do not.
type Options struct {
	// Provider gives the name of the provider of a model, such as anthropic, which
	// spans of the model's calls then have; nil or empty: they have none.
	Provider func(model string) string
}

// Observer gives an observer that makes spans with the tracers of tp.
func Observer(tp trace.TracerProvider, o Options) skein.Observer {
	if o.Provider == nil {
		o.Provider = func(string) string { return "" }
	}
	s := &spans{
		tracer:   tp.Tracer("github.com/skeinhq/skein/telemetry", trace.WithSchemaURL(semconv.SchemaURL)),
		provider: o.Provider,
		turns:    map[string]*turn{},
	}
	return skein.Observer{Event: s.hear, Verbose: true} // a model's call begins with its request
}

// maxTurns is how many turns may be open at once, waiting ones included.
const maxTurns = 1024

// spans makes spans of events.
type spans struct {
	tracer   trace.Tracer
	provider func(model string) string

	mu    sync.Mutex // guards the rest: an observer may be given to several engines
	turns map[string]*turn
	heard int64 // events
}

// opens are the types of events with which a turn begins or goes on, as far as
// spans are concerned. Others of a turn that is not open come late, and are left
// out.
var opens = map[thread.EventType]bool{
	thread.ConversationEvent: true,
	thread.StepEvent:         true,
	thread.RequestEvent:      true,
	thread.ToolEvent:         true,
}

// inTurn says what events do to the turn they are of.
var inTurn = map[thread.EventType]func(*turn, *skein.Event, time.Time){
	thread.StepEvent:       (*turn).beginStep,
	thread.RequestEvent:    (*turn).beginCall,
	thread.RetryEvent:      (*turn).note,
	thread.ResponseEvent:   (*turn).endCall,
	thread.ModelErrorEvent: (*turn).failCall,
	thread.UsageEvent:      (*turn).take,
	thread.ToolEvent:       (*turn).beginTool,
	thread.ResultEvent:     (*turn).endTool,
	thread.DeniedEvent:     (*turn).note,
	thread.AskedEvent:      (*turn).ask,
	thread.DecidedEvent:    (*turn).decide,
	thread.CutEvent:        (*turn).cut,
	thread.LineEvent:       (*turn).line,
	thread.SteerEvent:      (*turn).note,
	thread.PreventedEvent:  (*turn).note,
	thread.WarningEvent:    (*turn).note,
	thread.FinishedEvent:   (*turn).finish,
	thread.StoppedEvent:    (*turn).stop,
}

func (s *spans) hear(e skein.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	t := s.turnOf(&e)
	if t == nil {
		s.alone(&e)
		return
	}
	t.heard = s.heard
	if e.Time.After(t.now) {
		t.now = e.Time
	}
	waits := e.Type == thread.ConversationEvent && len(t.asked) > 0 // looked at again, and nothing is decided
	if t.span == nil && opens[e.Type] && !waits {
		t.begin()
	}
	if do, ok := inTurn[e.Type]; ok {
		do(t, &e, t.now)
	}
	t.mayPark()
	if e.Type == thread.FinishedEvent || e.Type == thread.StoppedEvent {
		delete(s.turns, e.Thread)
	}
}

// turnOf gives the open turn that an event is of, which it may open. Events that
// are of no turn belong to the one that is open in their thread.
func (s *spans) turnOf(e *skein.Event) *turn {
	t := s.turns[e.Thread]
	switch {
	case e.Turn == 0 || t != nil && t.seq == e.Turn:
		return t
	case !opens[e.Type]:
		return nil
	}
	if t != nil {
		t.lose() // a thread has one turn at a time
	} else if len(s.turns) >= maxTurns {
		s.loseOne()
	}
	t = &turn{spans: s, thread: e.Thread, seq: e.Turn, agent: e.Agent, tools: map[string]*node{}, asked: map[string]bool{}, decided: map[string]string{}}
	s.turns[e.Thread] = t
	return t
}

// loseOne ends the turn that was quiet for the longest.
func (s *spans) loseOne() {
	var quiet *turn
	for _, t := range s.turns {
		if quiet == nil || t.heard < quiet.heard {
			quiet = t
		}
	}
	quiet.lose()
	delete(s.turns, quiet.thread)
}

// alone makes the spans of what happens outside of turns.
func (s *spans) alone(e *skein.Event) {
	switch {
	case e.Turn != 0:
	case e.Type == thread.CutEvent:
		s.moment("cut", e, cutAttributes(e))
	case e.Type == thread.UsageEvent && e.Purpose == skein.ForLine:
		s.moment("line", e, s.lineAttributes(e))
	}
}

// moment makes a span without a length: when it began is not known.
func (s *spans) moment(name string, e *skein.Event, a []attribute.KeyValue) {
	a = append(a, semconv.GenAIConversationID(clip(e.Thread)))
	_, span := s.tracer.Start(context.Background(), name, trace.WithNewRoot(), trace.WithTimestamp(e.Time), trace.WithAttributes(a...))
	span.End(trace.WithTimestamp(e.Time))
}
