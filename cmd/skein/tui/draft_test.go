package tui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADraftIsAFileUntilItIsEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t.db.drafts")
	want := draft{Thread: "launch", Text: "世界\n\ttext", Saying: []draftSaying{{"k", "on its way"}}}
	d := newDrafts(dir)
	if got, err := d.read("launch"); err != nil || !got.empty() {
		t.Errorf("before anything was typed: %+v, %v", got, err)
	}
	d.keep(draft{Thread: "launch", Text: "older"})
	d.keep(want)
	if got, err := d.read("launch"); err != nil || !got.same(want) {
		t.Errorf("at once: %+v, %v", got, err)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "launch.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}

	d = newDrafts(dir)
	got, err := d.read("launch")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("after a restart (-want +got): %v\n%s", err, diff)
	}
	d.keep(draft{Thread: "launch", Text: " \n"})
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestADraftOfAnotherThreadIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "launch.json"), []byte(`{"thread":"Launch","text":"other"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDrafts(dir)
	defer func() { _ = d.close() }()
	if got, err := d.read("launch"); err != nil || got.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADraftThatCannotBeWrittenIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDrafts(file) // no folder can be there
	d.keep(draft{Thread: "launch", Text: "typed"})
	if err := d.close(); err == nil {
		t.Error("no error")
	}
}
