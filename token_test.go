package skein_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/store/storetest"
	"github.com/skeinhq/skein/thread"
)

func TestATokensSecretIsShownOnce(t *testing.T) {
	clock := storetest.NewClock()
	e := engine(t, skein.Config{Now: clock.Now, Store: memory.New(memory.Options{Now: clock.Now})})
	secret, made, err := e.CreateToken(t.Context(), "ana", []string{skein.ScopeRead}, []string{"rope"})
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^skein_[0-9A-Za-z]{43}$`).MatchString(secret) {
		t.Errorf("the secret is %q", secret)
	}
	if strings.Contains(made.Hash, secret) || len(made.Hash) != 64 {
		t.Errorf("the hash is %q", made.Hash)
	}
	clock.Add(time.Second)
	got, err := e.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(made, got); d != "" {
		t.Error(d)
	}
	all, err := e.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Used.IsZero() || all[0].Used.Sub(made.Created) != time.Second {
		t.Errorf("after one use: %+v", all)
	}
}

func TestOnlyALiveTokensSecretIsGood(t *testing.T) {
	e := engine(t, skein.Config{})
	secret, made, err := e.CreateToken(t.Context(), "ana", []string{skein.ScopeAdmin}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "skein_", secret[:len(secret)-1], secret + "0", secret[:len(secret)-1] + "-", made.Hash} {
		if _, err := e.Authenticate(t.Context(), wrong); thread.CodeOf(err) != thread.Permission {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, _, err := e.CreateToken(t.Context(), "ana", []string{skein.ScopeRead}, nil); thread.CodeOf(err) != thread.Conflict {
		t.Errorf("a second token of the name: %v", err)
	}
	if err := e.RevokeToken(t.Context(), "ana"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Authenticate(t.Context(), secret); thread.CodeOf(err) != thread.Permission {
		t.Errorf("a revoked token: %v", err)
	}
	if err := e.RevokeToken(t.Context(), "ana"); thread.CodeOf(err) != thread.NotFound {
		t.Errorf("revoked again: %v", err)
	}
	second, _, err := e.CreateToken(t.Context(), "ana", []string{skein.ScopeRead}, nil)
	if err != nil || second == secret {
		t.Errorf("a new token of the name: %v", err)
	}
}

func TestATokenSaysWhatItIsGoodFor(t *testing.T) {
	e := engine(t, skein.Config{})
	for _, bad := range [][3][]string{
		{{"an a"}, {"read"}, nil}, {{"ana"}, nil, nil}, {{"ana"}, {"root"}, nil}, {{"ana"}, {"read"}, {"../x"}},
	} {
		if _, _, err := e.CreateToken(t.Context(), bad[0][0], bad[1], bad[2]); thread.CodeOf(err) != thread.Invalid {
			t.Errorf("%v: %v", bad, err)
		}
	}
	one := skein.Token{Scopes: []string{skein.ScopeRead}, Threads: []string{"a"}}
	all := skein.Token{Scopes: []string{skein.ScopeAdmin}}
	for _, c := range []struct {
		token  skein.Token
		scope  string
		thread string
		want   bool
	}{
		{one, skein.ScopeRead, "a", true}, {one, skein.ScopeRead, "b", false}, {one, skein.ScopeRead, "", false}, {one, skein.ScopeWrite, "a", false},
		{all, skein.ScopeRead, "a", true}, {all, skein.ScopeApprove, "", true}, {skein.Token{}, skein.ScopeRead, "a", false},
	} {
		if got := skein.Allows(c.token, c.scope, c.thread); got != c.want {
			t.Errorf("%v %s %q: %v", c.token.Scopes, c.scope, c.thread, got)
		}
	}
}
