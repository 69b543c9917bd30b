package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The keys of an entry of permissions in YAML.
var (
	decisionKeys = []string{"allow", "deny", "ask"}
	ruleKeys     = []string{"paths", "commands", "reason"}
	settingKeys  = []string{"default", "read_only"}
)

// UnmarshalYAML reads permissions as agents' files have them: a list of rules and,
// in entries of their own, what holds where none matches.
//
//	permissions:
//	  - allow: [read_file, list_files]
//	  - ask: write_file
//	    paths: ["src/**"]
//	    reason: sources are looked at before they change
//	  - default: ask
//	    read_only: allow
//
// allow, deny and ask name tools; these, paths and commands are a text or a list
// of texts. Errors are sentences for whoever wrote the file.
func (p *Permissions) UnmarshalYAML(unmarshal func(any) error) error {
	var entries []map[string]any
	if err := unmarshal(&entries); err != nil {
		return errors.New("permissions must be a list of rules such as \"- allow: read_file\"")
	}
	var out Permissions
	for i, entry := range entries {
		if err := out.add(entry); err != nil {
			return fmt.Errorf("entry %d of the permissions %w", i+1, err)
		}
	}
	if err := out.Check(); err != nil {
		return err
	}
	*p = out
	return nil
}

// add takes one entry of the list; its error completes "entry 3 … ".
func (p *Permissions) add(entry map[string]any) error {
	known := slices.Concat(decisionKeys, ruleKeys, settingKeys)
	var decisions []string
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("has the key %q; known are %s", key, strings.Join(known, ", "))
		}
		if slices.Contains(decisionKeys, key) {
			decisions = append(decisions, key)
		}
	}
	switch len(decisions) {
	case 0:
		return p.set(entry)
	case 1:
		return p.rule(Decision(decisions[0]), entry)
	}
	return fmt.Errorf("has both %s; write a rule for each", strings.Join(decisions, " and "))
}

// set takes an entry that has no rule.
func (p *Permissions) set(entry map[string]any) error {
	if len(entry) == 0 {
		return errors.New("is empty")
	}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		target := &p.Default
		switch key {
		case "default":
		case "read_only":
			target = &p.ReadOnly
		default:
			return fmt.Errorf("has %s, but no allow, deny or ask", key)
		}
		if *target != "" {
			return fmt.Errorf("has a second %s", key)
		}
		d, ok := entry[key].(string)
		if !ok || !Decision(d).known() {
			return fmt.Errorf("has the %s %v; it must be allow, deny or ask", key, entry[key])
		}
		*target = Decision(d)
	}
	return nil
}

// rule takes an entry that is a rule.
func (p *Permissions) rule(d Decision, entry map[string]any) error {
	r := Rule{Decision: d}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		var err error
		switch key {
		case "paths":
			r.Paths, err = texts(key, entry[key])
		case "commands":
			r.Commands, err = texts(key, entry[key])
		case string(d):
			r.Tools, err = texts(key, entry[key])
		case "reason":
			var ok bool
			if r.Reason, ok = entry[key].(string); !ok {
				err = errors.New("has a reason that is no text")
			}
		default:
			err = fmt.Errorf("has %s beside a rule; it stands in an entry of its own", key)
		}
		if err != nil {
			return err
		}
	}
	p.Rules = append(p.Rules, r)
	return nil
}

// texts reads a text or a list of texts.
func texts(key string, value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], ok = v.(string); !ok || out[i] == "" {
			return nil, fmt.Errorf("has under %s something that is no text; write a name or glob in quotes, or a list of them", key)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("has an empty list under %s; write \"*\" for all", key)
	}
	return out, nil
}
