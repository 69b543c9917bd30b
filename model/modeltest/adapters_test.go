package modeltest_test

import (
	"flag"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/model/openai"
)

var _ = flag.Bool("update", false, "write anew what recordings expect")

func openAnthropic(t *testing.T, url string) model.Model {
	m, err := anthropic.New(anthropic.Options{Key: modeltest.DefaultKey, BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openResponses(t *testing.T, url string) model.Model {
	m, err := openai.New(openai.Options{Key: modeltest.DefaultKey, BaseURL: url + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// openChat opens the adapter of Chat Completions for a server that listens
// below a path.
func openChat(name, path string) modeltest.Opener {
	return func(t *testing.T, url string) model.Model {
		table, err := model.BuiltIn().Extend([]byte(`{"models": [
			{"model": "qwen*", "family": "openai", "window": 131072, "maxOutput": 8000},
			{"model": "Qwen*", "family": "openai", "window": 131072, "maxOutput": 8000}]}`))
		if err != nil {
			t.Fatal(err)
		}
		m, err := chat.New(chat.Options{Name: name, Key: modeltest.DefaultKey, BaseURL: url + path, Rules: table})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

func TestAnthropic(t *testing.T) {
	modeltest.Run(t, openAnthropic, modeltest.Caps{
		Model: "claude-opus-5-5", Unknown: "claude-nobody", Key: true, Thinking: true, Signed: true, Redacted: true,
		Effort: true, Marks: true, Cached: true, Refusal: true, Images: true, Files: true,
	})
}

func TestOpenAI(t *testing.T) {
	modeltest.Run(t, openResponses, modeltest.Caps{
		Model: "gpt-6-sol", Unknown: "gpt-nobody", Key: true, Thinking: true, Signed: true,
		Effort: true, CacheKey: true, Cached: true, Refusal: true, Images: true, Files: true,
	})
}

func TestChat(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		caps modeltest.Caps
	}{
		"openai":     {"/v1", modeltest.Caps{Model: "gpt-4.1", Unknown: "gpt-nobody", Key: true, CacheKey: true, Cached: true, Refusal: true, Images: true, Files: true}},
		"ollama":     {"/ollama/v1", modeltest.Caps{Model: "qwen3:8b", Unknown: "qwen-nobody", Thinking: true, Effort: true, Images: true}},
		"vllm":       {"/vllm/v1", modeltest.Caps{Model: "Qwen/Qwen3-8B", Unknown: "Qwen-nobody", Thinking: true, Effort: true, Cached: true, Images: true}},
		"openrouter": {"/openrouter/api/v1", modeltest.Caps{Model: "qwen/qwen3-235b", Unknown: "qwen-nobody", Key: true, Thinking: true, Effort: true, Cached: true, Images: true}},
	} {
		t.Run(name, func(t *testing.T) { modeltest.Run(t, openChat(name, c.path), c.caps) })
	}
}

func TestRecordings(t *testing.T) {
	for name, c := range map[string]struct {
		open modeltest.Opener
		from modeltest.Provider
	}{
		"anthropic":       {openAnthropic, modeltest.Provider{URL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"}},
		"responses":       {openResponses, modeltest.Provider{URL: "https://api.openai.com", KeyEnv: "OPENAI_API_KEY"}},
		"chat-openai":     {openChat("openai", "/v1"), modeltest.Provider{URL: "https://api.openai.com", KeyEnv: "OPENAI_API_KEY"}},
		"chat-ollama":     {openChat("ollama", "/v1"), modeltest.Provider{URL: "http://localhost:11434", KeyEnv: "OLLAMA_API_KEY"}},
		"chat-vllm":       {openChat("vllm", "/v1"), modeltest.Provider{URL: "http://localhost:8000", KeyEnv: "VLLM_API_KEY"}},
		"chat-openrouter": {openChat("openrouter", "/api/v1"), modeltest.Provider{URL: "https://openrouter.ai", KeyEnv: "OPENROUTER_API_KEY"}},
	} {
		t.Run(name, func(t *testing.T) { modeltest.Recorded(t, c.open, c.from, "testdata/"+name+"*.txtar") })
	}
}
