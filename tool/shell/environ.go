package shell

import (
	"net/url"
	"slices"
	"strings"
)

// secretive are parts of names that variables with secrets have.
var secretive = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// fixed is what every command finds set: nobody can answer a question or look at
// a page.
var fixed = []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

// environ is the environment of commands that run in dir: from, without what
// looks like a secret and is not named in pass.
func environ(from, pass []string, dir string) []string {
	out := []string{"PWD=" + dir}
	out = append(out, fixed...)
	for _, v := range from {
		name, value, _ := strings.Cut(v, "=")
		if set(out[:1+len(fixed)], name) {
			continue
		}
		if slices.Contains(pass, name) || !secret(name, value) {
			out = append(out, v)
		}
	}
	return out
}

func set(env []string, name string) bool {
	return slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// secret says whether a variable looks like a secret: by a part of its name, or
// because it is an address with a password in it.
func secret(name, value string) bool {
	name = strings.ToUpper(name)
	if slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	u, err := url.Parse(value)
	if err != nil {
		// What cannot be read as an address may still be one for somebody else.
		return strings.Contains(value, "://") && strings.Contains(value, "@")
	}
	_, has := u.User.Password()
	return has
}
