package model_test

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func TestA404SaysWhetherTheModelOrTheAPIIsMissing(t *testing.T) {
	place := model.Place{Address: "https://ana:secret@acme.example/api?key=secret", Shape: "it ends with /v1"}
	for _, c := range []struct {
		status        int
		kind, message string
		wrong         string
	}{
		{404, "", "", model.WrongAddress},
		{404, "", "Not Found", model.WrongAddress},
		{404, "", "404 page not found", model.WrongAddress},
		{404, "not_found_error", "Not found: /v1/v1/messages", model.WrongAddress},
		{404, "invalid_request_error", "Invalid URL (POST /responses)", model.WrongAddress},
		{404, "not_found_error", "model: loom", model.WrongModel},
		{404, "", `model "loom" not found, try pulling it first`, model.WrongModel},
		{404, "", "no model at /models/loom", model.WrongModel},
		{404, "invalid_request_error model_not_found", "not found", model.WrongModel},
		{404, "", "No endpoints found, see https://acme.example/settings", model.WrongModel},
		{401, "", "Not Found", model.WrongKey},
		{500, "", "", ""},
	} {
		err := place.Refused("acme", "acme/loom", model.Failure{Status: c.status, Type: c.kind}, c.message)
		f, ok := model.FailureOf(err)
		if !ok || f.Wrong != c.wrong || f.Status != c.status || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %q %q: %v, %+v, want %q wrong", c.status, c.kind, c.message, err, f, c.wrong)
		}
		if c.wrong == model.WrongAddress && (err.Code != thread.Configuration || err.Message != "nothing answers at https://acme.example/api as the API of acme" || err.Hint != place.Shape) {
			t.Errorf("%q: %v", c.message, err)
		}
	}
}

func TestAnAddressIsAWholeURL(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:11434/v1": "", "HTTPS://acme.example": "",
		"foo":                       "the URL foo has no http:// or https://",
		"http":                      "the URL http has no http:// or https://",
		"localhost:11434/v1":        "the URL localhost:11434/v1 has no http:// or https://",
		"ftp://acme.example":        "the URL ftp://acme.example has no http:// or https://",
		"ana:secret@acme.example/x": "the URL acme.example/x has no http:// or https://",
		"http://":                   "the URL http:// cannot be read",
		"http://a:se/cret@b:x/?k=y": "the URL http://b:x/ cannot be read",
	} {
		err := model.CheckAddress(address)
		if want == "" && err != nil || want != "" && (thread.CodeOf(err) != thread.Configuration || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

func TestAnAddressIsShownWithoutSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.example.com/v1":                    "https://api.example.com/v1",
		"http://localhost:11434/v1":                     "http://localhost:11434/v1",
		"ftp://host/x":                                  "ftp://host/x",
		"api.example.com/v1":                            "api.example.com/v1",
		"https://ana:pass@host/v1":                      "https://host/v1",
		"https://ana:pa/ss@host/v1":                     "https://host/v1",
		"https://host/v1?key=abc":                       "https://host/v1",
		"sk-ant-api03-abcdefgh://api.example.com":       "…://api.example.com",
		"sk-abcdefgh://":                                "…://",
		"AIzaSyA1234://host":                            "…://host",
		"sk-ant-api03-abcdefgh":                         "…",
		"SK_abcdefgh":                                   "…",
		"AIzaSyA1234567":                                "…",
		"0123456789abcdef0123456789abcdef":              "…",
		"https://host/sk-proj-abcdefgh/v1":              "https://host/…/v1",
		"https://sk-proj-abcdefgh.host/v1":              "https://….host/v1",
		"https://a-rather-long-name.region.example.com": "https://a-rather-long-name.region.example.com",
	} {
		if got := model.Shown(address); got != want {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"sk-ant-api03-abcdefgh://x", "sk-ant-api03-abcdefgh", "https://ana:sk-secret1@x", "http://x?k=sk-secret1"} {
		if err := model.CheckAddress(address); err == nil || strings.Contains(err.Error(), "secret1") || strings.Contains(err.Error(), "abcdefgh") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
