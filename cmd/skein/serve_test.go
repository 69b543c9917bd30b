package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// port puts a port that nobody listens at into a variable: port NAME. It is none of
// those that systems give out by themselves, so that nobody takes it between a server's
// end and the next one's begin.
func port(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: port NAME")
	}
	for range 1000 {
		number := 10_000 + rand.IntN(20_000)
		if _, taken := ports.LoadOrStore(number, true); taken {
			continue
		}
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", number))
		if err != nil {
			continue
		}
		ts.Check(ln.Close())
		ts.Setenv(args[0], strconv.Itoa(number))
		return
	}
	ts.Fatalf("no port is free")
}

// ports are those that were given to scripts.
var ports sync.Map

// fetch prints what is at an address as it comes, for where there is no curl.
func fetch() {
	resp, err := http.Get(os.Args[1])
	if err == nil {
		defer resp.Body.Close()
		_, err = io.Copy(os.Stdout, resp.Body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestAddressesOfServersAndThreads(t *testing.T) {
	for where, want := range map[string]address{
		"http://127.0.0.1:8417":                           {"http://127.0.0.1:8417", ""},
		"http://127.0.0.1:8417/":                          {"http://127.0.0.1:8417/", ""},
		"http://127.0.0.1:8417/t/launch":                  {"http://127.0.0.1:8417", "launch"},
		"http://127.0.0.1:8417/t/launch/m/12":             {"http://127.0.0.1:8417", "launch"},
		"http://127.0.0.1:8417/v1/threads/launch":         {"http://127.0.0.1:8417", "launch"},
		"http://127.0.0.1:8417/v1/threads/a.b/events?x=y": {"http://127.0.0.1:8417", "a.b"},
		"https://example.com/skein/t/a%20b":               {"https://example.com/skein", "a b"},
	} {
		if got, ok := addressed(where); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", where, got, ok, want)
		}
	}
	for _, where := range []string{"launch", "ftp://example.com/t/launch", "http:///t/launch", "/t/launch", "http://x/t/%zz", ""} {
		if at, ok := addressed(where); ok {
			t.Errorf("%q is %+v", where, at)
		}
	}
}
