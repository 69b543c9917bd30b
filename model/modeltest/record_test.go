package modeltest_test

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

func TestARecordingHoldsNoSecret(t *testing.T) {
	const key = "sk-ant-api03-very-secret-0123456789"
	vendor, url := modeltest.Start(t, modeltest.Config{Key: key})
	vendor.Script(modeltest.Say("Write to ana@example.org of org-AbCdEf123456, with " + key + "."))
	r, err := modeltest.NewRecord(url, key)
	if err != nil {
		t.Fatal(err)
	}
	passing := modeltest.StartHandler(t, r)
	status, got := post(t, passing+"/v1/messages", asked("", `"stream":true`))
	if status != 200 || !strings.Contains(got, key) {
		t.Fatalf("what passes is changed: %d %s", status, got)
	}
	request, response := r.Sections()
	for _, secret := range []string{key, modeltest.DefaultKey, "ana@", "AbCdEf", "Request-Id", "request-id"} {
		if strings.Contains(string(request)+string(response), secret) {
			t.Errorf("%q is in the recording:\n%s\n%s", secret, request, response)
		}
	}
	if want := "POST /v1/messages\n\n" + asked("", `"stream":true`) + "\n"; string(request) != want {
		t.Errorf("request: %s", request)
	}

	again, err := modeltest.NewReplay([]byte("-- response --\n" + string(response)))
	if err != nil {
		t.Fatal(err)
	}
	_, replayed := post(t, modeltest.StartHandler(t, again)+"/v1/messages", asked("", `"stream":true`))
	if want := strings.NewReplacer(key, "sk-secret", "ana@example.org", "somebody@example.com", "org-AbCdEf123456", "org-secret").Replace(got); replayed != want {
		t.Errorf("replayed:\n%s\nwant:\n%s", replayed, want)
	}
}

func TestARecordingKeepsWhatWasRefused(t *testing.T) {
	vendor, url := modeltest.Start(t, modeltest.Config{})
	vendor.Script(modeltest.Reply{Trouble: modeltest.RateLimit, RetryAfter: modeltest.Duration(9e9)})
	r, err := modeltest.NewRecord(url, modeltest.DefaultKey)
	if err != nil {
		t.Fatal(err)
	}
	if status, got := post(t, modeltest.StartHandler(t, r)+"/v1/responses", `{"model":"gpt-6-sol","input":"hi"}`); status != 429 {
		t.Fatalf("%d %s", status, got)
	}
	if _, response := r.Sections(); !strings.HasPrefix(string(response), "HTTP/1.1 429 Too Many Requests\nContent-Type: application/json\nRetry-After: 9\n\n{\"error\":") {
		t.Errorf("got %s", response)
	}
}

func TestRecordingWantsAKeyAndAnAddress(t *testing.T) {
	if _, err := modeltest.NewRecord("https://api.anthropic.com", ""); err == nil {
		t.Error("no key was needed")
	}
	if _, err := modeltest.NewRecord("nowhere", "key"); err == nil {
		t.Error("no address was needed")
	}
	if _, err := modeltest.NewReplay([]byte("-- told --\n")); err == nil {
		t.Error("no response was needed")
	}
}
