package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
)

// firstChoices are the models that answer where nobody names one: that of the
// first provider there is a key for.
var firstChoices = []string{"claude-sonnet-5-5", "gpt-6-sol"}

// catalog is every model there is: the rule table, and who is asked for what.
type catalog struct {
	table     *model.Table
	providers []provider
}

// catalog reads the settings file's providers and the user's own table.
func (a *app) catalog() (*catalog, error) {
	if a.models != nil {
		return a.models, nil
	}
	providers, err := a.providers()
	if err != nil {
		return nil, err
	}
	c := &catalog{table: model.BuiltIn(), providers: providers}
	for _, p := range providers {
		if p.Kind != chatKind {
			continue
		}
		if c.table, err = c.table.Extend(p.rules()); err != nil {
			return nil, err
		}
	}
	if path := a.flags.Models; path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, &thread.Error{Code: thread.Configuration, Op: "models", Message: fmt.Sprintf("the model table %s cannot be read", path), Err: err}
		}
		if c.table, err = c.table.Extend(data); err != nil {
			return nil, err
		}
	}
	a.models = c
	return c, nil
}

// rules are those of a server's models that no other entry names: what they
// take is not known, so that little is asked of them.
func (p provider) rules() []byte {
	window, most := p.Window, p.MaxOutput
	if window == 0 {
		window = chatWindow
	}
	if most == 0 {
		most = min(chatMaxOutput, window/4)
	}
	return fmt.Appendf(nil, `{"models": [{"model": "%s/*", "family": "openai", "window": %d, "maxOutput": %d, "images": {"types": []}, "files": [], "minCache": 0, "cacheKey": false}]}`, p.name, window, most)
}

// asked gives the provider that is asked for a model: the one that its name
// begins with, else the one that its family has its name from.
func (c *catalog) asked(name string) (provider, error) {
	prefix, rest, ok := strings.Cut(name, "/")
	if i := slices.IndexFunc(c.providers, func(p provider) bool { return p.name == prefix }); ok && rest != "" && i >= 0 {
		_, err := c.table.Rules(name)
		return c.providers[i], known(err)
	}
	rules, err := c.table.Rules(name)
	switch {
	case ok && rest == "":
		return provider{}, &thread.Error{Code: thread.Configuration, Op: "model", Message: "no model is named", Hint: "write it after the provider, as " + prefix + "/llama3.2"}
	case err != nil && ok:
		return provider{}, &thread.Error{Code: thread.Configuration, Op: "model", Message: "there is no provider named " + prefix, Hint: "add it under providers: in skein.yaml, see docs/models.md"}
	case err != nil:
		return provider{}, known(err)
	}
	if i := slices.IndexFunc(c.providers, func(p provider) bool { return p.name == rules.Family }); i >= 0 {
		return c.providers[i], nil
	}
	return provider{}, &thread.Error{Code: thread.Configuration, Op: "model", Message: fmt.Sprintf("nobody is asked for the model %q", name), Hint: "skein models lists what there is"}
}

// known says where the names of models stand.
func known(err error) error {
	var e *thread.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = "skein models lists what there is; --models FILE adds others"
	return &told
}

// model gives the model of a name.
func (a *app) model(name string) (model.Model, error) {
	switch name {
	case model.Echo:
		return echo.Model{Pace: a.flags.Pace}, nil
	case model.Scripted:
		if a.flags.Script == "" {
			return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the scripted model needs a script", Hint: "--script FILE"}
		}
		return scripted.Open(a.flags.Script)
	}
	c, err := a.catalog()
	if err != nil {
		return nil, err
	}
	p, err := c.asked(name)
	if err != nil {
		return nil, err
	}
	if p.keyless() {
		return nil, p.noKey()
	}
	m, err := kinds[p.Kind](p, c.table)
	if err != nil {
		return nil, p.hinted(err)
	}
	return model.Patient(guided{m, p}, model.Policy{}), nil
}

// guided tells the way out of a provider's refusals by the names of our own
// settings.
type guided struct {
	model.Model
	provider provider
}

func (g guided) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range g.Model.Stream(ctx, r) {
			if !yield(e, g.provider.hinted(err)) {
				return
			}
		}
	}
}

// hinted puts the name of the setting to change into an error's hint.
func (p provider) hinted(err error) error {
	var e *thread.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	f, _ := model.FailureOf(err)
	switch {
	case f.Wrong == model.WrongKey && p.KeyEnv != "":
		told.Hint = fmt.Sprintf("set another %s, then /retry", p.KeyEnv)
	case f.Wrong == model.WrongKey:
		told.Hint = fmt.Sprintf("name the variable of its key as key_env of the provider %s in skein.yaml", p.name)
	case f.Wrong == model.WrongModel:
		told.Hint = "skein models lists what there is; choose another with --model, then /retry"
	case e.Code == thread.Provider && f.Unheard && p.URL != "":
		told.Hint = fmt.Sprintf("see whether %s is there, then /retry", p.URL)
	case f.Wrong == model.WrongAddress:
		// The hint says how the address is to look.
	case e.Code == thread.Configuration && p.Kind == chatKind && p.URL == "":
		told.Hint = "say where it is with --chat-url, as http://localhost:11434/v1"
	case e.Hint != "" && e.Code != thread.Configuration && e.Code != thread.Limit:
		told.Hint = strings.TrimSuffix(e.Hint, ", then try again") + ", then /retry"
		if rest, again := strings.CutPrefix(e.Hint, "try again"); again {
			told.Hint = "/retry" + rest
		}
	}
	return &told
}

// fallback is the model that answers where nobody names one, and what is to be
// said of it: without any key it is echo.
func (a *app) fallback() (name, notice string) {
	c, err := a.catalog()
	if err != nil {
		return model.Echo, ""
	}
	var variables []string
	for _, name := range firstChoices {
		p, err := c.asked(name)
		if err != nil {
			continue
		}
		if !p.keyless() {
			return name, ""
		}
		variables = append(variables, p.KeyEnv)
	}
	return model.Echo, fmt.Sprintf("echo answers: to talk to a model, set %s", strings.Join(variables, " or "))
}

// unlock sees, before anything is said, whether the model that was asked for can
// be asked at all: a name that nobody knows, a key that is missing and settings
// that are wrong fail here. Where none was asked for, the notice says how a key is
// set if there is none.
func (a *app) unlock() (notice string, err error) {
	if a.flags.Model == "" || a.flags.Model == skein.Unset {
		_, notice = a.fallback()
		return notice, nil
	}
	if a.flags.Model == model.Scripted {
		return "", nil // a script that is not there is told of where it is read
	}
	_, err = a.model(a.flags.Model)
	return "", err
}

type modelsCmd struct{}

func (modelsCmd) Help() string {
	return example("skein models", "skein models --json", "skein models --models mine.json") +
		"\n\nA name that ends in * stands for all that begin so. Prices are dollars for a" +
		"\nmillion tokens."
}

// listedModel is a line of the table.
type listedModel struct {
	model.Rules
	Provider string `json:"provider"`
	Key      string `json:"key,omitempty"` // the variable that is to be set
}

// Run prints the rule and price table.
func (modelsCmd) Run(a *app) error {
	c, err := a.catalog()
	if err != nil {
		return err
	}
	var all []listedModel
	seen := map[string]bool{}
	for _, r := range c.table.All() {
		if seen[r.Model] {
			continue // a later entry has taken its place
		}
		seen[r.Model] = true
		l := listedModel{Rules: r, Provider: r.Family}
		if p, err := c.asked(r.Model); err == nil {
			l.Provider = p.name
			if p.keyless() {
				l.Key = p.KeyEnv
			}
		}
		all = append(all, l)
	}
	slices.Reverse(all)
	if a.flags.JSON {
		return a.printJSON(all)
	}
	if err := a.printf("%-22s %-10s %9s %8s %8s %8s %8s %8s  %s\n", "model", "provider", "window", "output", "in $", "out $", "read $", "write $", ""); err != nil {
		return err
	}
	for _, l := range all {
		note := ""
		if l.Key != "" {
			note = "set " + l.Key
		}
		line := fmt.Sprintf("%-22s %-10s %9d %8d %8s %8s %8s %8s  %s", l.Model, l.Provider, l.Window, l.MaxOutput,
			price(l.Prices.Input), price(l.Prices.Output), price(l.Prices.CacheRead), price(l.Prices.CacheWrite), note)
		if err := a.printf("%s\n", safe(strings.TrimRight(line, " "))); err != nil {
			return err
		}
	}
	return nil
}

func price(dollars float64) string {
	if dollars == 0 {
		return "–"
	}
	return fmt.Sprintf("%g", dollars)
}
