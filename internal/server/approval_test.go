package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/view"
)

// asking has an agent that must ask before it rings the bell.
func asking(t *testing.T, rung *[]string) settings {
	bell, err := tool.Make(tool.Tool{Name: "ring", Description: "Rings the bell."}, func(_ context.Context, in struct {
		Tone string `json:"tone"`
	}) (string, error) {
		*rung = append(*rung, in.Tone)
		return "rung", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := scripted.Read(strings.NewReader(`{"calls":[{"name":"ring","input":{"tone":"a"}}]}
It rang.
{"calls":[{"name":"ring","input":{"tone":"b"}}]}
It did not.
{"calls":[{"name":"ring","input":{"tone":"c"}}]}
Once more.
`))
	if err != nil {
		t.Fatal(err)
	}
	return func(s *site, c *skein.Config, sc *server.Config) {
		withModel(m)(s, c, sc)
		c.Model, c.Tools = "scripted", []tool.Tool{bell}
		c.Agents = []skein.Agent{{Name: "north", Permissions: tool.Permissions{Rules: []tool.Rule{{Decision: tool.Ask, Tools: []string{"ring"}, Reason: "it is loud"}}}}}
	}
}

func TestACallIsDecidedFromAnywhere(t *testing.T) {
	var rung []string
	s := open(t, asking(t, &rung))
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read", "write"))
	cleo := s.as(s.tokenFor("cleo", nil, "read", "approve"))
	l := cleo.listen("/v1/threads/rope/events")
	var r view.Replica
	ben.ask("rope", "Ring it")
	l.follow(&r, "a question", func(v view.View) bool { return len(v.Docs.Agent.Waiting) == 1 })
	asked := r.View().Docs.Agent.Waiting[0]
	if asked.Tool != "ring" || asked.Reason != "it is loud" || len(rung) != 0 {
		t.Errorf("asked: %+v, rung %q", asked, rung)
	}
	path := "/v1/threads/rope/approvals/" + asked.Call
	ben.refused("POST", path, map[string]any{"decision": "allow"}, 403, thread.Permission)
	cleo.refused("POST", path+"x", map[string]any{"decision": "allow"}, 404, thread.NotFound)
	cleo.call("POST", path, map[string]any{"decision": "allow"}, 202, nil)
	l.follow(&r, "the bell rings", func(v view.View) bool {
		got := texts(v)
		return len(got) > 0 && got[len(got)-1] == "It rang." && v.Docs.Agent.Turn == 0
	})
	if len(rung) != 1 || rung[0] != "a" {
		t.Errorf("rung: %q", rung)
	}

	ben.ask("rope", "Again")
	l.follow(&r, "another question", func(v view.View) bool { return len(v.Docs.Agent.Waiting) == 1 })
	cleo.call("POST", "/v1/threads/rope/approvals/"+r.View().Docs.Agent.Waiting[0].Call, map[string]any{"decision": "deny", "reason": "too loud"}, 202, nil)
	l.follow(&r, "it does not", func(v view.View) bool {
		got := texts(v)
		return got[len(got)-1] == "It did not." && v.Docs.Agent.Turn == 0
	})
	if len(rung) != 1 {
		t.Errorf("rung: %q", rung)
	}

	// Decided beside the server, as by the command in another process.
	ben.ask("rope", "Once more")
	l.follow(&r, "a third question", func(v view.View) bool { return len(v.Docs.Agent.Waiting) == 1 })
	th, err := s.engine.Thread(context.Background(), "rope")
	if err != nil {
		t.Fatal(err)
	}
	if err := th.Approve(context.Background(), "dora", r.View().Docs.Agent.Waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	l.follow(&r, "the server goes on", func(v view.View) bool {
		got := texts(v)
		return got[len(got)-1] == "Once more." && v.Docs.Agent.Turn == 0
	})
}
