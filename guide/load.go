package guide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

type loadInput struct {
	Name string `json:"name" jsonschema:"the skill's name"`
	File string `json:"file,omitempty" jsonschema:"one of the files of a skill that is loaded already, to read it; leave it out to load the skill"`
}

// LoadTool makes load_skill, which only reads. Its input is {name, file?}, the
// name one of the skills'. Without a file it gives the skill's instructions, the
// tools that are now available and the skill's files; with one it gives that
// file, once opened says that the skill is loaded. What the model asks wrongly
// is told in the result. Errors have the code configuration: there are no skills.
func (s Skills) LoadTool(in Input, opened func(ctx context.Context) ([]string, error)) (tool.Tool, error) {
	if len(s) == 0 {
		return tool.Tool{}, &thread.Error{Code: thread.Configuration, Op: "skills", Message: "there are no skills to load"}
	}
	t, err := tool.Make(tool.Tool{
		Name: LoadSkill, ReadOnly: true,
		Description: "Loads a skill: gives its instructions, and opens its tools for the calls of your next answers. Given a file too, it reads that file of a skill that is loaded.",
	}, func(ctx context.Context, ask loadInput) (string, error) {
		k, ok := s.find(ask.Name)
		if !ok {
			return "", fmt.Errorf("there is no skill named %q; there are: %s", ask.Name, strings.Join(s.names(), ", "))
		}
		if ask.File == "" {
			return k.load(ctx, in)
		}
		loaded, err := opened(ctx)
		if err != nil {
			return "", err
		}
		if !slices.Contains(loaded, k.Name) {
			return "", fmt.Errorf("load the %s skill with %s before reading its files: call it without file first", k.Name, LoadSkill)
		}
		return k.file(ask.File)
	})
	if err != nil {
		return tool.Tool{}, err
	}
	t.Schema, err = s.schema()
	return t, err
}

// schema is the one of the input with the names that there are.
func (s Skills) schema() ([]byte, error) {
	schema, err := jsonschema.For[loadInput](nil)
	if err != nil {
		return nil, err
	}
	for _, name := range s.names() {
		schema.Properties["name"].Enum = append(schema.Properties["name"].Enum, name)
	}
	return thread.Encode(schema)
}

// Again tells the instructions of loaded skills once more, as turn contexts named
// "skill NAME", for a prompt that no longer holds what loaded them. Names of
// skills that there are no more are left out. Errors are as of [Resolve].
func (s Skills) Again(ctx context.Context, in Input, names []string) ([]thread.Context, error) {
	var list []Instruction
	for _, name := range names {
		if k, ok := s.find(name); ok {
			list = append(list, Instruction{Name: "skill " + name, Resolve: k.told})
		}
	}
	texts, err := resolve(ctx, list, in)
	if err != nil {
		return nil, err
	}
	var out []thread.Context
	for i, text := range texts {
		out = append(out, thread.Context{Name: list[i].Name, Text: text})
	}
	return out, nil
}

// load gives what is told, or for the model to read, in one sentence, why not.
func (k Skill) load(ctx context.Context, in Input) (string, error) {
	text, err := k.told(ctx, in)
	if err != nil {
		return "", errors.New(err.Error())
	}
	return text, nil
}

// told is what loading the skill gives.
func (k Skill) told(ctx context.Context, in Input) (string, error) {
	text, err := k.Instructions.resolve(ctx, in)
	switch {
	case err != nil:
		return "", fmt.Errorf("the instructions of the %s skill cannot be had: %w", k.Name, err)
	case len(text) > MaxSkill:
		return "", fmt.Errorf("the instructions of the %s skill cannot be had: %w", k.Name, tooLarge(MaxSkill))
	}
	files, err := k.list()
	if err != nil {
		in.warn("The files of the skill %s cannot all be listed: %v.", k.Name, err)
	}
	blocks := []string{bare(text), "Tools now available: " + k.toolNames()}
	if len(files) > 0 {
		blocks = append(blocks, fmt.Sprintf("Files, to be read with %s, name %q and file:\n- %s", LoadSkill, k.Name, strings.Join(files, "\n- ")))
	}
	if blocks[0] == "" {
		blocks = blocks[1:]
	}
	return strings.Join(blocks, "\n\n"), nil
}

func (k Skill) toolNames() string {
	if len(k.Tools) == 0 {
		return "none of its own"
	}
	names := make([]string, len(k.Tools))
	for i, t := range k.Tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// file reads one of the skill's files.
func (k Skill) file(name string) (string, error) {
	name, err := k.plain(name)
	if err != nil {
		return "", err
	}
	text, err := ReadText(k.Files, name, MaxFile)
	if err != nil {
		return "", fmt.Errorf("the file %q of the %s skill cannot be read: %w", name, k.Name, cause(err))
	}
	return text, nil
}

// cause is an error without the place on this machine where it happened.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
