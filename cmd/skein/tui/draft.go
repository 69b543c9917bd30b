package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// draftEvery is how often a draft is written at most.
const draftEvery = 500 * time.Millisecond

// draft is what was typed in a thread and is not in its log.
type draft struct {
	Thread string        `json:"thread"`
	Text   string        `json:"text"`
	Saying []draftSaying `json:"saying,omitempty"` // on its way; whether it arrived, its key tells
}

type draftSaying struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func (d draft) same(o draft) bool {
	return d.Thread == o.Thread && d.Text == o.Text && slices.Equal(d.Saying, o.Saying)
}

func (d draft) empty() bool { return strings.TrimSpace(d.Text) == "" && len(d.Saying) == 0 }

// drafts keeps what is typed in files beside the database, one for each thread.
// A goroutine writes them, so that typing never waits for a disk.
type drafts struct {
	dir string

	mu     sync.Mutex
	due    map[string]draft // by thread
	going  map[string]draft // being written
	failed error            // the last write's

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
}

// newDrafts begins to keep drafts in a folder, which is made when there is one.
func newDrafts(dir string) *drafts {
	d := &drafts{dir: dir, due: map[string]draft{}, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go d.run()
	return d
}

// keep hands a draft over.
func (d *drafts) keep(text draft) {
	d.mu.Lock()
	d.due[text.Thread] = text
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// err gives why the last write failed.
func (d *drafts) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// close writes what is due and ends.
func (d *drafts) close() error {
	close(d.stop)
	<-d.done
	return d.err()
}

func (d *drafts) run() {
	defer close(d.done)
	for {
		select {
		case <-d.wake:
			d.write()
		case <-d.stop:
			d.write()
			return
		}
		t := time.NewTimer(draftEvery)
		select {
		case <-t.C:
		case <-d.stop:
			t.Stop()
			d.write()
			return
		}
	}
}

func (d *drafts) write() {
	d.mu.Lock()
	d.going, d.due = d.due, map[string]draft{}
	going := d.going
	d.mu.Unlock()
	var errs []error
	for _, text := range going {
		errs = append(errs, d.put(text))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.going = nil
	if len(going) > 0 {
		d.failed = errors.Join(errs...)
	}
}

func (d *drafts) file(id string) string { return filepath.Join(d.dir, id+".json") }

// put writes one draft in the place of the one before, whole or not at all. An
// empty one removes the file.
func (d *drafts) put(text draft) error {
	path := d.file(text.Thread)
	if text.empty() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(d.dir, fmt.Sprintf(".%s-%d", text.Thread, os.Getpid()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// read gives a thread's draft; the empty one where there is none.
func (d *drafts) read(id string) (draft, error) {
	d.mu.Lock()
	due, ok := d.due[id]
	if !ok {
		due, ok = d.going[id]
	}
	d.mu.Unlock()
	if ok {
		return due, nil
	}
	data, err := os.ReadFile(d.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return draft{Thread: id}, nil
	}
	text := draft{Thread: id}
	if err == nil {
		err = json.Unmarshal(data, &text)
	}
	if err != nil || text.Thread != id { // a file system may take two names for one
		return draft{Thread: id}, err
	}
	return text, nil
}
