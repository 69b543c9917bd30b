package openai_test

import (
	"strconv"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/model/openai"
)

// server is a server of raw answers.
type server struct{ *modeltest.RawServer }

func serve(t *testing.T, answers ...modeltest.Raw) server {
	t.Helper()
	return server{modeltest.ServeRaw(t, "/v1/responses", answers...)}
}

func (s server) open(t *testing.T, change ...func(*openai.Options)) *openai.Model {
	t.Helper()
	return openAt(t, s.URL, change...)
}

// openAt opens the adapter for a server at that URL.
func openAt(t *testing.T, url string, change ...func(*openai.Options)) *openai.Model {
	t.Helper()
	o := openai.Options{Key: modeltest.RawKey, BaseURL: url + "/v1"}
	for _, c := range change {
		c(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const started = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-6-sol","output":[]}}`

// closed is the last event: how it ended and what it took.
func closed(status, reason string) string {
	details := "null"
	if reason != "" {
		details = `{"reason":"` + reason + `"}`
	}
	return `{"type":"response.` + status + `","sequence_number":99,"response":{"id":"resp_1","object":"response","status":"` + status + `","incomplete_details":` + details +
		`,"error":null,"output":[],"usage":{"input_tokens":742,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":30},"output_tokens":44,"output_tokens_details":{"reasoning_tokens":21},"total_tokens":786}}}`
}

func said(index int, text string) []string {
	n := strconv.Itoa(index)
	return []string{
		`{"type":"response.output_item.added","output_index":` + n + `,"item":{"id":"msg_` + n + `","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"msg_` + n + `","output_index":` + n + `,"content_index":0,"delta":"` + text + `"}`,
		`{"type":"response.output_item.done","output_index":` + n + `,"item":{"id":"msg_` + n + `","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}}`,
	}
}

func hello() modeltest.Raw {
	all := append([]string{started}, said(0, "hello")...)
	return modeltest.TypedEvents(append(all, closed("completed", ""))...)
}
