package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/tool"
)

func fromYAML(text string) (tool.Permissions, error) {
	var f struct {
		Permissions tool.Permissions `yaml:"permissions"`
	}
	err := yaml.UnmarshalWithOptions([]byte(text), &f, yaml.Strict())
	return f.Permissions, err
}

func TestPermissionsFromYAML(t *testing.T) {
	got, err := fromYAML(`
permissions:
  - allow: [read_file, list_files]
  - ask: write_file
    paths: ["src/**"]
    reason: sources are looked at before they change
  - deny: shell
    commands: "rm *"
  - default: ask
    read_only: allow
`)
	want := tool.Permissions{
		Rules: []tool.Rule{
			{Decision: tool.Allow, Tools: []string{"read_file", "list_files"}},
			{Decision: tool.Ask, Tools: []string{"write_file"}, Paths: []string{"src/**"}, Reason: "sources are looked at before they change"},
			{Decision: tool.Deny, Tools: []string{"shell"}, Commands: []string{"rm *"}},
		},
		Default: tool.Ask, ReadOnly: tool.Allow,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestPermissionsInYAMLThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{allow: x}`:                        `permissions must be a list of rules`,
		`text`:                              `permissions must be a list of rules`,
		`[allow]`:                           `permissions must be a list of rules`,
		`[{allow: x}, {allow: y, path: z}]`: `entry 2 of the permissions has the key "path"; known are allow, deny, ask, paths, commands, reason, default, read_only`,
		`[{allow: x, deny: y}]`:             `entry 1 of the permissions has both allow and deny; write a rule for each`,
		`[{paths: [x]}]`:                    `entry 1 of the permissions has paths, but no allow, deny or ask`,
		`[{}]`:                              `entry 1 of the permissions is empty`,
		`[{allow: 5}]`:                      `has under allow something that is no text`,
		`[{allow: }]`:                       `has under allow something that is no text`,
		`[{allow: [x, [y]]}]`:               `has under allow something that is no text`,
		`[{allow: []}]`:                     `has an empty list under allow; write "*" for all`,
		`[{allow: x, paths: []}]`:           `has an empty list under paths`,
		`[{allow: x, reason: [y]}]`:         `has a reason that is no text`,
		`[{allow: x, default: ask}]`:        `has default beside a rule; it stands in an entry of its own`,
		`[{default: maybe}]`:                `has the default maybe; it must be allow, deny or ask`,
		`[{read_only: true}]`:               `has the read_only true; it must be allow, deny or ask`,
		`[{default: ask}, {default: deny}]`: `entry 2 of the permissions has a second default`,
		`[{deny: x, paths: "a}"}]`:          `rule 1 of the permissions has a path that cannot be read: the glob "a}"`,
		`[{deny: x, deny: y}]`:              ``,
	} {
		got, err := fromYAML("permissions: " + text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v; want %q", text, err, want)
		}
		if len(got.Rules) > 0 {
			t.Errorf("%s is refused and gives %+v", text, got)
		}
	}
}

func ExamplePermissions() {
	var p tool.Permissions
	err := yaml.Unmarshal([]byte(`
- allow: shell
  commands: "git *"
- deny: "*"
  paths: "**/.env"
  reason: secrets stay here
- default: ask
`), &p)
	if err != nil {
		fmt.Println(err)
		return
	}
	shell := reaching("shell")
	for _, line := range []string{"git status", "git status; rm -rf src"} {
		input := fmt.Appendf(nil, `{"Command":%q}`, line)
		v, err := p.Decide(shell, input)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Decision, v.Question(shell, input))
	}
	v, err := p.Decide(reaching("read_file"), []byte(`{"Paths":["web/.env"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Decision, v.Reason)
	// Output:
	// allow shell: git status
	// ask shell: git status; rm -rf src
	// deny secrets stay here
}
