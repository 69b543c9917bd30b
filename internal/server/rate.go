package server

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostRates is how many tokens or addresses a table of rates remembers.
const mostRates = 8192

// rates are the three tables that a request is counted in.
type rates struct {
	tokens    *rateTable
	addresses *rateTable
	failures  *rateTable
}

func newRates(l Limits) rates {
	return rates{
		tokens:    newRateTable(l.Rate, l.Burst),
		addresses: newRateTable(l.AddressRate, l.AddressBurst),
		failures:  newRateTable(1, l.Failures),
	}
}

// rateTable limits the rate of each of many keys. It forgets the key that was not
// seen for the longest where there are too many.
type rateTable struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	keys  map[string]*list.Element
	order list.List // of *rated, the one seen last in front
}

type rated struct {
	key     string
	limiter *rate.Limiter
}

func newRateTable(perSecond float64, burst int) *rateTable {
	return &rateTable{limit: rate.Limit(perSecond), burst: burst, keys: map[string]*list.Element{}}
}

// take takes one from the key's allowance, if there is any.
func (t *rateTable) take(key string, now time.Time) bool { return t.of(key).AllowN(now, 1) }

func (t *rateTable) of(key string) *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.keys[key]; ok {
		t.order.MoveToFront(e)
		return e.Value.(*rated).limiter
	}
	if t.order.Len() >= mostRates {
		last := t.order.Back()
		t.order.Remove(last)
		delete(t.keys, last.Value.(*rated).key)
	}
	r := &rated{key, rate.NewLimiter(t.limit, t.burst)}
	t.keys[key] = t.order.PushFront(r)
	return r.limiter
}
