package anthropic_test

import (
	"testing"

	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/modeltest"
)

// server is a server of raw answers.
type server struct{ *modeltest.RawServer }

func serve(t *testing.T, answers ...modeltest.Raw) server {
	t.Helper()
	return server{modeltest.ServeRaw(t, "/v1/messages", answers...)}
}

func (s server) open(t *testing.T, change ...func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	return openAt(t, s.URL, change...)
}

// openAt opens the adapter for a server at that URL.
func openAt(t *testing.T, url string, change ...func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	o := anthropic.Options{Key: modeltest.RawKey, BaseURL: url}
	for _, c := range change {
		c(&o)
	}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	started = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":30,"cache_read_input_tokens":700,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":0},"output_tokens":1}}}`
	stopped = `{"type":"message_stop"}`
)

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":30,"cache_read_input_tokens":700,"output_tokens":44,"output_tokens_details":{"thinking_tokens":21}}}`
}

func said(text string) []string {
	return []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}`,
		`{"type":"content_block_stop","index":0}`,
	}
}

func hello() modeltest.Raw {
	all := append([]string{started}, said("hello")...)
	return modeltest.TypedEvents(append(all, ended("end_turn"), stopped)...)
}
