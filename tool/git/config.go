package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skeinhq/skein/internal/process"
)

// setting is one setting of a configuration, with its section's name and, where
// there is one, the name within that.
type setting struct{ section, name, key, value string }

// ours are the settings of every mirror. They say again what holds without them,
// since the mirror's configuration names no program: nothing runs, nothing is
// fetched.
var ours = []setting{
	{"core", "", "bare", "false"},
	{"core", "", "fsmonitor", "false"},
	{"core", "", "hookspath", os.DevNull},
	{"core", "", "attributesfile", os.DevNull},
	{"core", "", "excludesfile", os.DevNull},
	{"core", "", "pager", "cat"},
	{"core", "", "quotepath", "false"},
	{"core", "", "bigfilethreshold", "64m"}, // larger files are binary for git
	{"color", "", "ui", "false"},
	{"gc", "", "auto", "0"},
	{"log", "", "showsignature", "false"},
	{"maintenance", "", "auto", "false"},
	{"protocol", "", "allow", "never"},
	{"submodule", "", "recurse", "false"},
}

// taken are the settings of the repository that a mirror has too: how files are
// stored and which branch follows which. None of them names anything to run, to
// read or to reach. The names within sections are left out.
var taken = []string{
	"core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol",
	"core.trustctime", "core.checkstat", "core.sparsecheckout", "core.sparsecheckoutcone",
	"extensions.objectformat", "extensions.refstorage",
	"branch.remote", "branch.merge", "remote.fetch",
}

// harmless are the extensions of a repository that say nothing about how it is
// read here; with others it is refused.
var harmless = []string{
	"extensions.noop", "extensions.noop-v1", "extensions.partialclone", "extensions.preciousobjects",
	"extensions.relativeworktrees", "extensions.worktreeconfig",
}

// maxValue is the most bytes of a name or value of a setting.
const maxValue = 4096

// configure writes the mirror's configuration.
func (m *mirror) configure(ctx context.Context, repo repository) error {
	first := []setting{{"core", "", "repositoryformatversion", "0"}}
	if err := m.write(append(first, ours...)); err != nil {
		return err
	}
	found, err := m.settings(ctx, repo.common, "config")
	if err != nil {
		return err
	}
	more, err := m.settings(ctx, repo.own, "config.worktree")
	if err != nil {
		return err
	}
	var all []setting
	for _, s := range append(found, more...) {
		key := s.section + "." + s.key
		if slices.Contains(taken, key) {
			all = append(all, s)
		} else if s.section == "extensions" && !slices.Contains(harmless, key) {
			return fmt.Errorf("it uses the extension %s, which the git tool does not know", quoted(s.key))
		}
		if s.section == "extensions" {
			first[0].value = "1"
		}
	}
	return m.write(slices.Concat(first, all, ours))
}

// settings reads a configuration of the repository, as text: git does nothing
// that stands in it, and follows no include.
func (m *mirror) settings(ctx context.Context, from *os.Root, name string) ([]setting, error) {
	text, err := small(from, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	read := filepath.Join(m.dir, "theirs")
	if err := os.WriteFile(read, []byte(text), 0o600); err != nil {
		return nil, err
	}
	out, err := process.Ask(ctx, m.command("config", "--file", read, "--no-includes", "--null", "--list"))
	if err != nil {
		return nil, fmt.Errorf("its %s: %w", name, err)
	}
	var found []setting
	for each := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		full, value, ok := strings.Cut(each, "\n")
		if !ok {
			value = "true" // a key alone
		}
		section, rest, _ := strings.Cut(full, ".")
		s := setting{section: section, key: rest, value: value}
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			s.name, s.key = rest[:i], rest[i+1:]
		}
		if len(s.name) <= maxValue && len(value) <= maxValue {
			found = append(found, s)
		}
	}
	return found, nil
}

// write writes settings as the mirror's configuration.
func (m *mirror) write(settings []setting) error {
	inName := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	inValue := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	var out strings.Builder
	for _, s := range settings {
		if strings.ContainsAny(s.name, "\n\x00") {
			continue // no configuration can hold it
		}
		section := s.section
		if s.name != "" {
			section += ` "` + inName.Replace(s.name) + `"`
		}
		fmt.Fprintf(&out, "[%s]\n\t%s = \"%s\"\n", section, s.key, inValue.Replace(s.value))
	}
	return os.WriteFile(filepath.Join(m.dir, "config"), []byte(out.String()), 0o600)
}
