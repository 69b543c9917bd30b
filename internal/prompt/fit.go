package prompt

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// Overflow gives the figures of a prompt that is too large, as Details of the
// error. Tokens are the model's own, bytes those of the request's body.
type Overflow struct {
	Window    int    `json:"window,omitempty"`
	MaxOutput int    `json:"maxOutput,omitempty"`
	Tokens    int    `json:"tokens"`
	Parts     []Load `json:"parts"`
	MaxBody   int64  `json:"maxBody,omitempty"`
	Body      int64  `json:"body,omitempty"`
}

// Load is what a section adds.
type Load struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// fits fails where the prompt and the answer go over the model's window, or the
// body over its limit.
func (l *Layout) fits(p *Prompt) error {
	r := l.Rules
	o := Overflow{Window: r.Window, MaxOutput: p.Request.MaxOutput, Tokens: r.Scale(p.Tokens), MaxBody: r.MaxBody, Body: bodyBytes(&p.Request)}
	tooHeavy := r.Window > 0 && o.Tokens+o.MaxOutput > r.Window
	if !tooHeavy && !over(o.Body, r.MaxBody) {
		return nil
	}
	var loads []string
	for _, s := range p.Sections {
		o.Parts = append(o.Parts, Load{s.Name, r.Scale(s.Tokens)})
		loads = append(loads, fmt.Sprintf("%s %d", s.Name, r.Scale(s.Tokens)))
	}
	message := fmt.Sprintf("the prompt is too large for %s: %d tokens (%s) and an answer of up to %d do not go into its window of %d",
		p.Request.Model, o.Tokens, strings.Join(loads, ", "), o.MaxOutput, r.Window)
	if !tooHeavy {
		message = fmt.Sprintf("the prompt is too large for %s: its body has %d bytes, %d are allowed (tokens: %s)", p.Request.Model, o.Body, r.MaxBody, strings.Join(loads, ", "))
	}
	return &thread.Error{
		Code: thread.Limit, Op: "prompt", Thread: l.Past.Thread, Message: message,
		Hint: "lower the marks of the tail or the outline, the largest output, or what the instructions and tools hold; rewind before a message that is too long by itself", Details: o,
	}
}

// cacheKey is the same for every request of a thread and agent.
func cacheKey(id, agent string) string {
	whole := sha256.Sum256([]byte(id + "\x00" + agent))
	return "skein-" + base64.RawURLEncoding.EncodeToString(whole[:18])
}
