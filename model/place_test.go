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
