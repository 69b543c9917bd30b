package model

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/skeinhq/skein/thread"
)

const statusNotFound = 404

// Place is where an API is asked.
type Place struct {
	Address string // the base URL
	Shape   string // how the base URL of this API looks, as a sentence for people
}

// Refused makes the error of a request that was refused, as [Refused] does. A
// status of 404 that says nothing of a model means that the API is not there.
func (p Place) Refused(provider, model string, f Failure, message string) *thread.Error {
	if f.Status != statusNotFound || !nowhere.MatchString(strings.TrimSpace(message)) || strings.Contains(message, NameAt(provider, model)) || strings.Contains(f.Type, "model_not_found") {
		return Refused(provider, model, f, message)
	}
	f.Wrong = WrongAddress
	e := &thread.Error{
		Code: thread.Configuration, Op: "model", Message: fmt.Sprintf("nothing answers at %s as the API of %s", Shown(p.Address), provider),
		Hint: p.Shape, Details: f,
	}
	if message = thread.OneLine(message); message != "" {
		e.Err = fmt.Errorf("%s", message)
	}
	return e
}

// nowhere finds what servers say of a path they do not have: nothing of their
// own, or the path.
var nowhere = regexp.MustCompile(`(?i)^$|^(404:? )?(page |route )?not found[.!]?$|^no route\b|(^|[\s('"` + "`" + `:])/[a-z0-9]`)

// CheckAddress refuses a base URL that no request can be sent to.
func CheckAddress(address string) error {
	bad := func(message string) error {
		return &thread.Error{Code: thread.Configuration, Op: "model", Message: message, Hint: "give a whole URL, as http://localhost:11434/v1"}
	}
	scheme, _, _ := strings.Cut(address, "://")
	if s := strings.ToLower(scheme); s != "http" && s != "https" || s == strings.ToLower(address) {
		return bad(fmt.Sprintf("the URL %s has no http:// or https://", Shown(address)))
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Host == "":
		return bad(fmt.Sprintf("the URL %s cannot be read", Shown(address)))
	case u.User != nil:
		return bad(fmt.Sprintf("the URL %s holds a name or a password, which belong into the key or a header", Shown(address)))
	case strings.ContainsAny(address, "?#"):
		return bad(fmt.Sprintf("the URL %s has something after its path, after a ? or a #", Shown(address)))
	}
	return nil
}

// Shown is an address as it may be shown: without what may be a secret, which is
// a name and password before the host, all after the path, and whatever looks like
// a key that was pasted in the wrong place.
func Shown(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, ok := strings.Cut(address, "://")
	switch {
	case !ok:
		scheme, rest = "", address
	case !schemeShape.MatchString(scheme):
		scheme = "…://"
	default:
		scheme += "://"
	}
	// A password may hold a slash that nobody escaped.
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return scheme + keyLike.ReplaceAllString(rest, "…")
}

var (
	// schemeShape is how schemes look, and keys do not.
	schemeShape = regexp.MustCompile(`^[A-Za-z]{1,12}$`)

	// keyLike finds what begins as vendors' keys do, and long words that are no
	// part of a host's name.
	keyLike = regexp.MustCompile(`(?i)\b(sk|rk|pk|gsk|xai|ghp|hf|key|api)[-_][\w-]{6,}|\bAIza[\w-]{6,}|\b[A-Za-z0-9_-]{32,}`)
)
