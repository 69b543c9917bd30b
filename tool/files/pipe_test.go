//go:build unix

package files_test

import (
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	r := open(t, map[string]string{"a.txt": "a\n"})
	if err := syscall.Mkfifo(r.path("pipe"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	r.link("pipe", "link")
	t.Chdir(r.dir) // a socket's path is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for p, kind := range map[string]string{"pipe": "a named pipe", "link": "a named pipe", "socket": "a socket", ".": "a folder"} {
		r.fails("read_file", in{"path": p}, kind)
		r.fails("write_file", in{"path": p, "content": "x"}, kind)
		r.fails("edit_file", in{"path": p, "old": "a", "new": "b"}, kind)
	}
	r.fails("search_files", in{"path": "pipe", "pattern": "a"}, "a named pipe")
	r.fails("list_files", in{"path": "pipe"}, "a named pipe")
	if got := r.ok("list_files", in{}); !strings.Contains(got, "pipe (a named pipe)\n") || !strings.Contains(got, "socket (a socket)\n") {
		t.Errorf("the list is\n%s", got)
	}
	if got := r.ok("search_files", in{"pattern": "a"}); !strings.Contains(got, "[1 hits in 1 of 1 files]") {
		t.Error(got)
	}
}
