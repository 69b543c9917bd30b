package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store/sqlite"
)

// killedChild names the database of a process of its own that serves until it is
// killed; heldChild has no turn of it begin, silentChild none of them end.
const (
	killedChild = "SKEIN_KILLED_CHILD"
	heldChild   = "SKEIN_HELD_CHILD"
	silentChild = "SKEIN_SILENT_CHILD"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killedChild); path != "" {
		if err := serveUntilKilled(path, os.Getenv(heldChild) != ""); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled(path string, held bool) error {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	cfg := skein.Config{Store: st, Lease: 200 * time.Millisecond, Models: func(string) (model.Model, error) { return echo.Model{}, nil }}
	if os.Getenv(silentChild) != "" {
		cfg.Models = func(string) (model.Model, error) { return make(dictated), nil }
	}
	if held {
		cfg.Begins = func(ctx context.Context, _ *skein.Thread, _ skein.Agent) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	e, err := skein.Open(ctx, cfg)
	if err != nil {
		return err
	}
	s, err := server.New(ctx, server.Config{Engine: e, Name: "ana"})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	return s.Serve(ctx, ln)
}

// child is a server in a process of its own.
type child struct {
	*site
	process *exec.Cmd
	once    sync.Once
}

func spawn(t *testing.T, path string, environ ...string) *child {
	t.Helper()
	c := &child{site: &site{TB: t, path: path, client: &http.Client{Transport: &http.Transport{}}}}
	c.process = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	c.process.Env = append(os.Environ(), append(environ, killedChild+"="+path)...)
	c.process.Stderr = os.Stderr
	out, err := c.process.StdoutPipe()
	c.must(err)
	c.must(c.process.Start())
	t.Cleanup(c.kill)
	address, err := bufio.NewReader(out).ReadString('\n')
	c.must(err)
	c.url = "http://" + strings.TrimSpace(address)
	return c
}

// kill ends the process at once, as nothing that it can prepare for.
func (c *child) kill() {
	c.once.Do(func() {
		if err := c.process.Process.Kill(); err != nil {
			c.Errorf("kill: %v", err)
		}
		_ = c.process.Wait() // it was killed, and says so
		c.client.CloseIdleConnections()
	})
}

// exchange are a thread's messages as a reader sees them.
func (s *site) exchange(id string) (texts []string) {
	s.Helper()
	t, err := s.engine.Thread(context.Background(), id)
	s.must(err)
	for e, err := range t.Messages(context.Background(), 0, 1000) {
		s.must(err)
		texts = append(texts, string(e.Message.Role)+": "+e.Message.PlainText())
	}
	return texts
}

// A process that dies with a 202 on its way leaves an answer to be made: by the one
// that follows, and once.
func TestWhatWasAcceptedIsAnsweredAfterAKill(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 4
	}
	path := filepath.Join(t.TempDir(), "skein.db")
	for i := range kills {
		var environ []string
		if i%2 == 0 {
			environ = append(environ, heldChild+"=1") // else it is killed wherever it happens to be
		}
		c := spawn(t, path, environ...)
		id := fmt.Sprintf("t%d", i)
		c.create(id)
		c.say(id, "nobody need answer")
		c.call("POST", "/v1/threads/"+id+"/messages", map[string]any{"text": "are you there?", "key": "k"}, 202, nil)
		c.kill()
	}
	s := openAt(t, path, "127.0.0.1:0")
	for i := range kills {
		s.answered(fmt.Sprintf("t%d", i), 3)
	}
	for range 2 { // the second also takes up whatever is due, and there must be nothing
		for i := range kills {
			s.call("POST", fmt.Sprintf("/v1/threads/t%d/messages", i), map[string]any{"text": "are you there?", "key": "k"}, 202, nil)
		}
		s.close()
		s = openAt(t, path, "127.0.0.1:0")
	}
	for i := range kills {
		id := fmt.Sprintf("t%d", i)
		if got := s.exchange(id); len(got) != 3 || !strings.HasPrefix(got[2], "assistant: ") || s.state(id).Turn != 0 {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// What nobody wants answered any more, or never did, is not answered by the process
// that follows; a reply that was asked for is.
func TestOnlyWhatIsStillWantedIsAnsweredAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skein.db")
	c := spawn(t, path, heldChild+"=1")
	for _, id := range []string{"said", "stopped", "deleted", "replied"} {
		c.create(id)
		c.say(id, "the hall is blue")
	}
	c.ask("stopped", "are you there?")
	c.call("POST", "/v1/threads/stopped/stop", nil, 204, nil)
	c.ask("deleted", "are you there?")
	c.call("DELETE", "/v1/threads/deleted", nil, 204, nil)
	c.call("POST", "/v1/threads/replied/reply", nil, 202, nil)
	c.kill()

	s := openAt(t, path, "127.0.0.1:0")
	s.answered("replied", 2)
	s.must(s.engine.Undelete(t.Context(), "deleted"))
	s.close() // waits for every turn
	s = openAt(t, path, "127.0.0.1:0")
	s.close()
	s = openAt(t, path, "127.0.0.1:0")
	for id, length := range map[string]int64{"said": 1, "stopped": 2, "deleted": 2, "replied": 2} {
		if st := s.state(id); st.Length != length || st.Turn != 0 {
			t.Errorf("%s has %d messages and the turn %d, want %d and none: %q", id, st.Length, st.Turn, length, s.exchange(id))
		}
	}
}

// Of two processes that find the same promise one keeps it.
func TestTwoProcessesAnswerOnceWhatAKilledOneAccepted(t *testing.T) {
	const threads = 8
	path := filepath.Join(t.TempDir(), "skein.db")
	c := spawn(t, path, heldChild+"=1")
	for i := range threads {
		c.create(fmt.Sprintf("t%d", i))
		c.call("POST", fmt.Sprintf("/v1/threads/t%d/messages", i), map[string]any{"text": "are you there?", "key": "k"}, 202, nil)
	}
	c.kill()
	both := []*site{openAt(t, path, "127.0.0.1:0"), openAt(t, path, "127.0.0.1:0")}
	for _, s := range both {
		for i := range threads {
			s.call("POST", fmt.Sprintf("/v1/threads/t%d/messages", i), map[string]any{"text": "are you there?", "key": "k"}, 202, nil)
		}
	}
	for i := range threads {
		both[0].answered(fmt.Sprintf("t%d", i), 2)
	}
	for _, s := range both {
		s.close()
	}
	s := openAt(t, path, "127.0.0.1:0")
	for i := range threads {
		id := fmt.Sprintf("t%d", i)
		if st := s.state(id); st.Length != 2 || st.Turn != 0 {
			t.Errorf("%s has %d messages and the turn %d: %q", id, st.Length, st.Turn, s.exchange(id))
		}
	}
}
