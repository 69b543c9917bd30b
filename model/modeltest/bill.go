package modeltest

import (
	"sync"
	"time"
)

// bill is what a request is charged for, in tokens of thread.Weight.
type bill struct {
	input     int // neither read from the cache nor written to it
	read      int
	write     int
	writeHour int // of those written, the ones that live an hour
}

// The rules of Anthropic's cache.
const (
	lookBack = 20 // places that are searched from a mark on backwards, its own with them
	shortTTL = 5 * time.Minute
	longTTL  = time.Hour
)

// The rules of OpenAI's cache. Up to GPT-5.5 any prefix of at least 1,024 tokens
// is cached by itself and read in steps of 128. From GPT-5.6 on a prompt is
// cached at breakpoints, exactly.
const (
	cacheLeast    = 1024
	cacheStep     = 128
	routeTokens   = 256 // at the prompt's start, which choose the machine
	breakpoints   = 80  // the newest that are searched
	writesAtOnce  = 4
	breakpointTTL = 30 * time.Minute
	halfDayTTL    = 12 * time.Hour
	memoryTTL     = 5 * time.Minute
	dayTTL        = 24 * time.Hour
)

// cache holds what prompts start with, by their sums. A start belongs to an
// account, a model, and with OpenAI to a machine.
type cache struct {
	mu      sync.Mutex
	entries map[entryKey]entry
	kept    int // entries after the last sweep
}

type entryKey struct {
	place string // account, model and machine
	sum   sum
}

type entry struct {
	until time.Time
	life  time.Duration
}

// live says whether a start is cached, and makes it live again as long if it
// is: reading refreshes.
func (c *cache) live(k entryKey, now time.Time) bool {
	e, ok := c.entries[k]
	if !ok || !now.Before(e.until) {
		delete(c.entries, k)
		return false
	}
	e.until = now.Add(e.life)
	c.entries[k] = e
	return true
}

func (c *cache) put(k entryKey, now time.Time, life time.Duration) {
	if e, ok := c.entries[k]; ok && e.life > life && now.Before(e.until) {
		life = e.life
	}
	c.entries[k] = entry{now.Add(life), life}
	if len(c.entries) > 2*c.kept+1<<12 {
		c.sweep(now)
	}
}

// sweep forgets what has died.
func (c *cache) sweep(now time.Time) {
	for k, e := range c.entries {
		if !now.Before(e.until) {
			delete(c.entries, k)
		}
	}
	c.kept = len(c.entries)
}

// starts are the sums and tokens of all starts of a prompt: the i-th is that of
// its first i+1 blocks. Settings that the messages depend on come in before the
// first message.
func starts(r *request) (sums []sum, tokens []int) {
	var s sum
	n, inMessages := 0, false
	for _, b := range r.blocks {
		if b.level == messageLevel && !inMessages {
			inMessages = true
			s = s.then([]byte(r.settings))
		}
		s = s.then(b.data)
		n += b.tokens
		sums, tokens = append(sums, s), append(tokens, n)
	}
	return sums, tokens
}

// anthropic bills a prompt by its marks. The longest start that is cached at a
// mark, or up to 19 places before one, is read; up to the last mark that is
// longer and long enough the rest is written, and what follows is plain input.
func (c *cache) anthropic(account string, r *request, now time.Time) bill {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := account + "\x00" + r.model
	sums, tokens := starts(r)
	hit := -1
	for i := len(r.blocks) - 1; i >= 0 && hit < 0; i-- {
		if r.blocks[i].mark == "" {
			continue
		}
		for j, places := i, 1; j >= 0 && places <= lookBack; j-- {
			if c.live(entryKey{place, sums[j]}, now) {
				hit = j
				break
			}
			if run := r.blocks[j].run; run == "" || j == 0 || r.blocks[j-1].run != run {
				places++ // neighbouring calls, or results, have one place together
			}
		}
	}
	b := bill{}
	if hit >= 0 {
		b.read = tokens[hit]
	}
	for i := range hit {
		c.live(entryKey{place, sums[i]}, now) // shorter starts were used with it
	}
	written := b.read
	for i := hit + 1; i < len(r.blocks); i++ {
		mark := r.blocks[i].mark
		if mark == "" || r.rules.Scale(tokens[i]) < r.rules.MinCache {
			continue
		}
		life := shortTTL
		if mark == "1h" {
			life = longTTL
			b.writeHour += tokens[i] - written
		}
		c.put(entryKey{place, sums[i]}, now, life)
		b.write += tokens[i] - written
		written = tokens[i]
	}
	b.input = r.tokens() - written
	return b
}

// openAI bills a prompt by the longest start that the machine it is routed to
// has seen.
func (c *cache) openAI(account string, r *request, now time.Time, exact bool) bill {
	c.mu.Lock()
	defer c.mu.Unlock()
	sums, tokens := starts(r)
	place := account + "\x00" + r.model + "\x00" + r.key + "\x00" + route(sums, tokens)
	if exact {
		return c.atBreakpoints(place, r, sums, tokens, now)
	}
	life := dayTTL
	if r.life == "in_memory" {
		life = memoryTTL
	}
	b := bill{}
	for i := len(sums) - 1; i >= 0; i-- {
		if c.live(entryKey{place, sums[i]}, now) {
			if tokens[i] >= cacheLeast {
				b.read = tokens[i] / cacheStep * cacheStep
			}
			break
		}
	}
	for i := range sums {
		c.put(entryKey{place, sums[i]}, now, life)
	}
	b.input = r.tokens() - b.read
	return b
}

// route names the machine by the blocks that the prompt's first tokens lie in.
func route(sums []sum, tokens []int) string {
	for i, n := range tokens {
		if n >= routeTokens {
			return string(sums[i][:])
		}
	}
	return ""
}

// atBreakpoints reads at the newest breakpoint that is cached and writes at the
// request's own: those that are marked, and the end of its newest message.
func (c *cache) atBreakpoints(place string, r *request, sums []sum, tokens []int, now time.Time) bill {
	b := bill{}
	hit, searched, implicit := -1, 0, -1
	var writes []int
	for i := len(r.blocks) - 1; i >= 0; i-- {
		own := r.blocks[i].mark != ""
		if r.blocks[i].ends && implicit < 0 && !r.explicit {
			implicit, own = i, true
		}
		if own && len(writes) < writesAtOnce {
			writes = append(writes, i)
		}
		if (own || r.blocks[i].ends && !r.explicit) && hit < 0 && searched < breakpoints {
			searched++
			if tokens[i] >= cacheLeast && c.live(entryKey{place, sums[i]}, now) {
				hit = i
			}
		}
	}
	if hit >= 0 {
		b.read = tokens[hit]
	}
	last := b.read
	for i := len(writes) - 1; i >= 0; i-- {
		if at := writes[i]; at > hit && tokens[at] >= cacheLeast {
			life := breakpointTTL
			if r.life == "12h" {
				life = halfDayTTL
			}
			c.put(entryKey{place, sums[at]}, now, life)
			last = tokens[at]
		}
	}
	b.write = last - b.read
	b.input = r.tokens() - last
	return b
}
