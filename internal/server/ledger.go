package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

func (s *Server) showPrompt(ctx context.Context, in *struct {
	InThread
	Agent string `query:"agent" maxLength:"64" doc:"Whose prompt; default: whoever would answer."`
	At    int64  `query:"at" minimum:"0" doc:"The seq of an answer: what it was made from. Default: what would be sent now."`
}) (*struct{ Body json.RawMessage }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := promptOf(ctx, t, in.Agent, in.At)
	if err != nil {
		return nil, err
	}
	data, err := p.MarshalJSON()
	return &struct{ Body json.RawMessage }{data}, err
}

func promptOf(ctx context.Context, t *skein.Thread, agent string, at int64) (*skein.Prompt, error) {
	if at != 0 {
		return t.PromptAt(ctx, at)
	}
	return t.Prompt(ctx, agent)
}

// RequestMade is one request of the ledger: the answer that it made, and what its
// prompt was like.
type RequestMade struct {
	Seq     int64           `json:"seq" doc:"Of the answer."`
	Time    time.Time       `json:"time"`
	Agent   string          `json:"agent"`
	Model   string          `json:"model,omitempty"`
	Stop    thread.Stop     `json:"stop,omitempty"`
	Undone  bool            `json:"undone,omitempty"`
	Usage   *thread.Usage   `json:"usage,omitempty"`
	Request *thread.Request `json:"request"`
}

// mostLedger is how many messages are looked through for one page of the ledger.
const mostLedger = 2000

type requestsAnswer struct {
	Body struct {
		Items []RequestMade `json:"items" doc:"The newest first."`
		Next  int64         `json:"next,omitempty" doc:"The before of the next page; absent at the end."`
	}
}

func (s *Server) listRequests(ctx context.Context, in *struct {
	InThread
	Limit  int   `query:"limit" default:"50" minimum:"1" maximum:"200"`
	Before int64 `query:"before" minimum:"0" doc:"Answers with a smaller seq."`
}) (*requestsAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	out := &requestsAnswer{}
	out.Body.Items = []RequestMade{}
	looked := 0
	q := store.EntriesQuery{Before: in.Before, Newest: true, Inactive: true, Kinds: []thread.Kind{thread.MessageKind}}
	for e, err := range t.Entries(ctx, q) {
		if err != nil {
			return nil, err
		}
		m := e.Message
		if looked++; m != nil && m.Request != nil && m.VisibleTo(by(ctx).name) && m.Role == thread.Assistant {
			out.Body.Items = append(out.Body.Items, RequestMade{
				Seq: e.Seq, Time: e.Time, Agent: m.Author, Model: m.Model, Stop: m.Stop, Usage: m.Usage, Request: m.Request,
				Undone: !state.Active(state.OriginAt(e.Seq), e.Branch, e.Index),
			})
		}
		if len(out.Body.Items) == in.Limit || looked == mostLedger {
			if e.Seq > 1 {
				out.Body.Next = e.Seq
			}
			break
		}
	}
	return out, nil
}

func (s *Server) showUsage(ctx context.Context, in *InThread) (*struct{ Body skein.Usage }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	u, err := t.Usage(ctx)
	return &struct{ Body skein.Usage }{u}, err
}

// AgentName is an agent that may answer.
type AgentName struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty" doc:"It answers where a thread says nothing else."`
}

type agentsAnswer struct {
	Body struct {
		Items []AgentName `json:"items"`
	}
}

func (s *Server) listAgents(context.Context, *struct{}) (*agentsAnswer, error) {
	out := &agentsAnswer{}
	answers := s.cfg.Engine.Answering(skein.Settings{})
	for _, name := range s.cfg.Engine.Agents() {
		out.Body.Items = append(out.Body.Items, AgentName{name, name == answers})
	}
	return out, nil
}
