package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token; its secret is shown this once."`
	List   tokenListCmd   `cmd:"" help:"List the tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Make a token good for nothing."`
}

type tokenCreateCmd struct {
	Name   string  `arg:"" optional:"" help:"Whose it is: the author of what is said with it."`
	Scope  scopes  `placeholder:"SCOPE,…" help:"What it is good for: read, write, approve, admin; several with commas."`
	Thread threads `placeholder:"THREAD" help:"A thread that it is good for; again for more (all)."`
}

// scopes are what a token is good for.
type scopes []string

// Decode takes scopes with commas between them; each counts once.
func (s *scopes) Decode(ctx *kong.DecodeContext) error {
	text, err := wordAfter(ctx, "it takes what the token is good for, such as read,write")
	if err != nil {
		return err
	}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); !slices.Contains(skein.Scopes(), one) {
			return fmt.Errorf("%q is none of %s", one, strings.Join(skein.Scopes(), ", "))
		}
		if !slices.Contains(*s, one) {
			*s = append(*s, one)
		}
	}
	return nil
}

// threads are where a token is good. An empty one is never taken for all of them.
type threads []string

// Decode takes one thread.
func (t *threads) Decode(ctx *kong.DecodeContext) error {
	id, err := wordAfter(ctx, "it takes the id of one thread; leave it out for all of them")
	if err == nil && !slices.Contains(*t, id) {
		*t = append(*t, id)
	}
	return err
}

// wordAfter takes what follows a flag, or says what should.
func wordAfter(ctx *kong.DecodeContext, want string) (string, error) {
	next := ctx.Scan.Peek()
	if next.IsEOL() || next.InferredType() == kong.FlagToken {
		return "", errors.New(want)
	}
	text := strings.TrimSpace(ctx.Scan.Pop().String())
	if text == "" {
		return "", errors.New(want)
	}
	return text, nil
}

func (tokenCreateCmd) Help() string {
	return example("skein token create ana --scope read,write,approve", "skein token create board --scope read --thread launch") +
		"\n\nThe secret, and nothing else, goes to standard output. It is kept nowhere."
}

// madeToken is a token with its secret.
type madeToken struct {
	skein.Token
	Secret string `json:"secret"`
}

// Run makes the token and prints its secret.
func (c tokenCreateCmd) Run(a *app) error {
	const hint = "skein token create --help shows how"
	switch {
	case c.Name == "":
		return &thread.Error{Code: thread.Invalid, Op: "token", Message: "a token has a name: that of whoever holds it", Hint: hint}
	case len(c.Scope) == 0:
		return &thread.Error{Code: thread.Invalid, Op: "token", Message: "--scope says what the token is good for: read, write, approve, admin", Hint: hint}
	}
	return a.with(toWrite, func(e *skein.Engine) error {
		secret, t, err := e.CreateToken(a.ctx, c.Name, c.Scope, c.Thread)
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(madeToken{t, secret})
		}
		if err := a.printf("%s\n", secret); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.errs, "skein: the token %s is good for %s; its secret is shown this once\n", safe(t.Name), safe(goodFor(t)))
		return err
	})
}

// goodFor says what a token may do, and where.
func goodFor(t skein.Token) string {
	where := "all threads"
	if t.Threads != nil {
		where = strings.Join(t.Threads, ", ")
	}
	return strings.Join(t.Scopes, ", ") + " in " + where
}

type tokenListCmd struct{}

func (tokenListCmd) Help() string { return example("skein token list", "skein token list --json") }

// Run lists the tokens, the oldest first.
func (tokenListCmd) Run(a *app) error {
	return a.with(toRead, func(e *skein.Engine) error {
		all, err := e.Tokens(a.ctx)
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(append([]skein.Token{}, all...))
		}
		if len(all) == 0 {
			return a.printf("there is no token; skein token create makes one\n")
		}
		for _, t := range all {
			if err := a.printf("%-16s %s, made %s, %s\n", safe(t.Name), safe(goodFor(t)), minute(t.Created), standing(t)); err != nil {
				return err
			}
		}
		return nil
	})
}

// standing says when a token was used last, or since when it is good for nothing.
func standing(t skein.Token) string {
	switch {
	case !t.Live():
		return "revoked " + minute(t.Revoked)
	case t.Used.IsZero():
		return "never used"
	}
	return "used " + minute(t.Used)
}

func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

type tokenRevokeCmd struct {
	Name string `arg:"" help:"The token's name or id."`
}

func (tokenRevokeCmd) Help() string {
	return example("skein token revoke board") +
		"\n\nA server that runs ends the streams of its holder within seconds."
}

// Run revokes the token.
func (c tokenRevokeCmd) Run(a *app) error {
	return a.with(toChange, func(e *skein.Engine) error {
		if err := e.RevokeToken(a.ctx, c.Name); err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(map[string]string{"revoked": c.Name})
		}
		_, err := fmt.Fprintf(a.errs, "skein: the token %s is revoked\n", safe(c.Name))
		return err
	})
}
