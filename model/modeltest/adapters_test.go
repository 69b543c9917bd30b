package modeltest_test

import (
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/model/openai"
)

func TestAnthropic(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, url string) model.Model {
		m, err := anthropic.New(anthropic.Options{Key: modeltest.DefaultKey, BaseURL: url})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}, modeltest.Caps{Model: "claude-opus-5-5", Unknown: "claude-nobody", Key: true, Thinking: true, Redacted: true, Effort: true, Marks: true, Cached: true, Refusal: true, Images: true, Files: true})
}

func TestOpenAI(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, url string) model.Model {
		m, err := openai.New(openai.Options{Key: modeltest.DefaultKey, BaseURL: url + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}, modeltest.Caps{Model: "gpt-6-sol", Unknown: "gpt-nobody", Key: true, Thinking: true, Effort: true, CacheKey: true, Cached: true, Refusal: true, Images: true, Files: true})
}
