package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/skeinhq/skein/strategy"
)

// strategies is how an agent's file names its chain: as a text, or as a list whose
// entries are names, or names with options.
//
//	strategy: truncate, outline
//	strategy:
//	  - truncate: {keep_recent: 6}
//	  - summarize: {trigger_characters: 200000}
type strategies struct {
	names   []string
	options map[string][]byte // YAML, by the strategy's name
}

// UnmarshalYAML reads either form.
func (s *strategies) UnmarshalYAML(data []byte) error {
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = strategies{options: map[string][]byte{}}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, entry := range list {
		switch e := entry.(type) {
		case string:
			s.names = append(s.names, strings.Split(e, ",")...)
		case map[string]any:
			for name, options := range e {
				text, err := yaml.Marshal(options)
				if err != nil {
					return err
				}
				s.names = append(s.names, name)
				s.options[name] = text
			}
			if len(e) == 1 {
				continue
			}
			return errors.New("a strategy with options stands in an entry of its own")
		default:
			return fmt.Errorf("%v is no strategy", entry)
		}
	}
	return nil
}

// options is what a file may say of the strategies that come with Skein.
var options = map[string]func(data []byte) (strategy.Strategy, error){
	strategy.SummarizeName: func(data []byte) (strategy.Strategy, error) {
		var o struct {
			TriggerCharacters  int    `yaml:"trigger_characters"`
			TriggerTokens      int    `yaml:"trigger_tokens"`
			KeepRecentMessages int    `yaml:"keep_recent_messages"`
			Prompt             string `yaml:"prompt"`
			Model              string `yaml:"model"`
			MaxSummaryTokens   int    `yaml:"max_summary_tokens"`
		}
		err := yaml.UnmarshalWithOptions(data, &o, yaml.Strict())
		return strategy.SummarizeHistory(strategy.Summarize(o)), positive(err, o.TriggerCharacters, o.TriggerTokens, o.KeepRecentMessages, o.MaxSummaryTokens)
	},
	strategy.TruncateName: func(data []byte) (strategy.Strategy, error) {
		var o struct {
			KeepRecent    int `yaml:"keep_recent"`
			MaxCharacters int `yaml:"max_characters"`
			BatchTokens   int `yaml:"batch_tokens"`
		}
		err := yaml.UnmarshalWithOptions(data, &o, yaml.Strict())
		return strategy.TruncateToolResults(strategy.Truncate(o)), positive(err, o.KeepRecent, o.MaxCharacters, o.BatchTokens)
	},
	strategy.SlidingName: func(data []byte) (strategy.Strategy, error) {
		var o struct {
			Tokens      int `yaml:"tokens"`
			BatchTokens int `yaml:"batch_tokens"`
		}
		err := yaml.UnmarshalWithOptions(data, &o, yaml.Strict())
		return strategy.SlidingWindow(strategy.Sliding(o)), positive(err, o.Tokens, o.BatchTokens)
	},
}

// positive says whether options are usable: err is of reading them.
func positive(err error, numbers ...int) error {
	if err != nil {
		return errors.New(firstLine(err.Error()))
	}
	for _, n := range numbers {
		if n < 0 {
			return fmt.Errorf("%d is negative", n)
		}
	}
	return nil
}

// chain makes the chain. own are strategies that go before Skein's.
func (s strategies) chain(own []strategy.Strategy) (strategy.Chain, error) {
	for name, data := range s.options {
		with, ok := options[name]
		if !ok {
			if _, err := strategy.Parse(name, own...); err != nil {
				return nil, err // there is none of that name
			}
			return nil, fmt.Errorf("the strategy %q takes no options here", name)
		}
		made, err := with(data)
		if err != nil {
			return nil, fmt.Errorf("the options of %s cannot be used: %w", name, err)
		}
		own = append([]strategy.Strategy{made}, own...)
	}
	return strategy.Parse(strings.Join(s.names, ","), own...)
}

// ChainOf gives the strategies that are in force: those that a thread names, with
// the agent's options where the agent has them too, else the agent's own.
func ChainOf(s Settings, a Agent, own []strategy.Strategy) (strategy.Chain, error) {
	if s.Strategy == "" {
		return a.Strategy, nil
	}
	return strategy.Parse(s.Strategy, append(append([]strategy.Strategy(nil), a.Strategy...), own...)...)
}
