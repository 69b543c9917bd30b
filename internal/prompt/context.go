package prompt

import (
	"fmt"
	"sync"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Today is the name of the built-in turn context.
const Today = "today"

// contextMessage is how contexts are told: one user message, a part for each.
func contextMessage(contexts []thread.Context) model.Message {
	m := model.Message{Role: thread.User, Parts: make([]thread.Part, 0, len(contexts))}
	for _, c := range contexts {
		m.Parts = append(m.Parts, thread.Text(valid(c.String())))
	}
	return m
}

// remember notes what the history tells, the newest telling of each name.
func (l *Layout) remember(contexts []thread.Context) {
	for _, c := range contexts {
		at := l.lastTold(c.Name)
		if at < 0 {
			l.told = append(l.told, c)
			continue
		}
		l.told[at] = c
	}
}

func (l *Layout) lastTold(name string) int {
	for i := range l.told {
		if l.told[i].Name == name {
			return i
		}
	}
	return -1
}

// toTell gives the turn contexts that the history as laid out does not tell as
// they are now.
func (l *Layout) toTell() ([]thread.Context, error) {
	candidates := make([]thread.Context, 0, 1+len(l.Turn.Contexts))
	if !l.Turn.Time.IsZero() {
		today, err := today(l.Turn.Time, l.Definition.Zone)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, today)
	}
	candidates = append(candidates, l.Turn.Contexts...)
	tell := candidates[:0]
	for _, c := range candidates {
		if at := l.lastTold(c.Name); at < 0 || l.told[at].Identity() != c.Identity() {
			tell = append(tell, c)
		}
	}
	return tell, nil
}

// today says day and time. Only the day and the zone make it another one.
func today(t time.Time, zone string) (thread.Context, error) {
	loc, err := location(zone)
	if err != nil {
		return thread.Context{}, err
	}
	t = t.In(loc)
	shown := zone
	if shown == "" {
		shown = "UTC"
	}
	return thread.Context{
		Name: Today,
		Text: fmt.Sprintf("It is %s (%s).", t.Format("Monday, 2 January 2006, 15:04"), shown),
		Same: t.Format(time.DateOnly) + " " + shown,
	}, nil
}

// zones keeps the time zones that were read: reading one costs more than all
// else of a small prompt. A zone never changes while a process runs.
var zones sync.Map // name -> *time.Location

func location(zone string) (*time.Location, error) {
	if zone == "" || zone == "UTC" {
		return time.UTC, nil
	}
	if l, ok := zones.Load(zone); ok {
		return l.(*time.Location), nil
	}
	l, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, &thread.Error{Code: thread.Configuration, Op: "prompt", Message: fmt.Sprintf("the time zone %q is not known", zone), Hint: "use an IANA name such as Europe/Berlin", Err: err}
	}
	zones.Store(zone, l)
	return l, nil
}
