package modeltest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// clock is a clock that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// shop is a server whose clock is ours.
type shop struct {
	*testing.T
	clock  *clock
	server *modeltest.Server
	url    string
}

func openShop(t *testing.T) *shop {
	c := &clock{now: time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)}
	s, url := modeltest.Start(t, modeltest.Config{Now: c.Now})
	return &shop{t, c, s, url}
}

// bills sends a body and compares what it cost: plain input, read, written.
func (s *shop) bills(what, path, body string, input, read, write int) {
	s.Helper()
	if status, got := post(s.T, s.url+path, body); status != 200 {
		s.Fatalf("%s: status %d: %s", what, status, got)
	}
	all := s.server.Exchanges()
	got := all[len(all)-1]
	if u := got.Usage; u.Input != int64(input) || u.CacheRead != int64(read) || u.CacheWrite != int64(write) {
		s.Errorf("%s: input %d, read %d, written %d; want %d, %d, %d", what, u.Input, u.CacheRead, u.CacheWrite, input, read, write)
	}
	if want := input + read + write; got.Prompt != want {
		s.Errorf("%s: the prompt has %d tokens, %d are billed", what, got.Prompt, want)
	}
}

// word is a text of n tokens.
func word(letter string, n int) string { return strings.Repeat(letter, 4*n) }

func block(text string, mark string) string {
	if mark != "" {
		mark = `,"cache_control":{"type":"ephemeral","ttl":"` + mark + `"}`
	}
	return `{"type":"text","text":"` + text + `"` + mark + `}`
}

// claude is a body whose tool has 100 tokens, whose system is given, and whose
// user says the blocks.
func claude(model, system string, blocks ...string) string {
	schema := `{"type":"object"}`
	description := word("d", 100-thread.Weight("zoom")-thread.Weight(schema))
	return `{"model":"` + model + `","max_tokens":10,"tools":[{"name":"zoom","description":"` + description + `","input_schema":` + schema + `}],"system":[` + system + `],"messages":[{"role":"user","content":[` + strings.Join(blocks, ",") + `]}]}`
}

const messages = "/v1/messages"

func TestAnthropicsCacheIsReadAtMarks(t *testing.T) {
	s := openShop(t)
	system := block(word("s", 2000), "5m")
	one, two, three := block(word("a", 500), ""), block(word("b", 300), ""), block(word("c", 200), "5m")
	s.bills("the first", messages, claude("claude-opus-5-5", system, one, two, three), 0, 0, 3100)
	s.bills("the same", messages, claude("claude-opus-5-5", system, one, two, three), 0, 3100, 0)
	four := block(word("d", 50), "")
	s.bills("more, unmarked", messages, claude("claude-opus-5-5", system, one, two, three, four), 50, 3100, 0)
	s.bills("more, marked", messages, claude("claude-opus-5-5", system, one, two, three, block(word("e", 60), "5m")), 0, 3100, 60)
	s.bills("unmarked where it was marked", messages, claude("claude-opus-5-5", system, one, two, block(word("c", 200), "")), 1000, 2100, 0)
	s.bills("another end", messages, claude("claude-opus-5-5", system, one, two, block(word("x", 200), "5m")), 0, 2100, 1000)
	s.bills("another beginning", messages, claude("claude-opus-5-5", block(word("t", 2000), "5m"), one), 500, 0, 2100)
	s.bills("another model", messages, claude("claude-fable-5-2", system, one), 500, 0, 2100)
	s.bills("no marks", messages, claude("claude-opus-5-5", block(word("s", 2000), ""), one), 2600, 0, 0)
}

func TestAnthropicsCacheLooksBackTwentyBlocks(t *testing.T) {
	for _, c := range []struct{ between, read, write int }{{18, 2200, 19}, {19, 0, 2220}} {
		s := openShop(t)
		blocks := []string{block(word("a", 100), "5m")}
		s.bills("the first", messages, claude("claude-opus-5-5", block(word("s", 2000), ""), blocks...), 0, 0, 2200)
		blocks[0] = block(word("a", 100), "")
		for i := range c.between {
			blocks = append(blocks, block(fmt.Sprintf("b%03d", i), ""))
		}
		blocks = append(blocks, block("last", "5m"))
		s.bills(fmt.Sprintf("%d blocks between", c.between), messages, claude("claude-opus-5-5", block(word("s", 2000), ""), blocks...), 0, c.read, c.write)
	}
}

func TestAnthropicsCacheCountsNeighbouringCallsOnce(t *testing.T) {
	s := openShop(t)
	system := block(word("s", 2000), "")
	one := claude("claude-opus-5-5", system, block(word("a", 100), "5m"))
	s.bills("the first", messages, one, 0, 0, 2200)
	var calls, results []string
	for i := range 30 {
		calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"c%02d","name":"zoom","input":{}}`, i))
		results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"c%02d","content":"okay"}`, i))
	}
	results[29] = strings.Replace(results[29], `"okay"`, `"okay","cache_control":{"type":"ephemeral"}`, 1)
	two := strings.TrimSuffix(claude("claude-opus-5-5", system, block(word("a", 100), "")), "]}") +
		`,{"role":"assistant","content":[` + strings.Join(calls, ",") + `]},{"role":"user","content":[` + strings.Join(results, ",") + `]}]}`
	s.bills("thirty calls later", messages, two, 0, 2200, 30*(4+1+1+1)+30*(4+1+1))
}

func TestOlderModelsLeaveOutWhatWasThoughtBefore(t *testing.T) {
	s := openShop(t)
	for _, c := range []struct {
		model  string
		counts bool
	}{{"claude-haiku-4-5", false}, {"claude-opus-4-5", true}} {
		body := `{"model":"` + c.model + `","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hello"}]}`
		_, got := post(t, s.url+messages, body)
		back := strings.TrimSuffix(body, "]}") + `,{"role":"assistant","content":` + jsonOf(t, at(t, got, "content")) + `},{"role":"user","content":"more"}]}`
		if status, got := post(t, s.url+messages, back); status != 200 {
			t.Fatalf("status %d: %s", status, got)
		}
		all := s.server.Exchanges()
		without := thread.Weight("hello") + thread.Weight("You said: hello") + thread.Weight("more")
		if got := all[len(all)-1].Prompt; (got > without) != c.counts {
			t.Errorf("%s: the prompt has %d tokens, %d without what was thought", c.model, got, without)
		}
	}
}

func TestACacheIsWrittenBeforeItIsNeeded(t *testing.T) {
	s := openShop(t)
	body := claude("claude-opus-5-5", block(word("s", 2000), "5m"), block("warm", ""))
	body = strings.Replace(body, `"max_tokens":10`, `"max_tokens":0`, 1)
	status, got := post(t, s.url+messages, body)
	if status != 200 || at(t, got, "stop_reason") != "max_tokens" || len(at(t, got, "content").([]any)) != 0 || at(t, got, "usage", "output_tokens") != 0.0 {
		t.Errorf("status %d: %s", status, got)
	}
	s.bills("then", messages, claude("claude-opus-5-5", block(word("s", 2000), "5m"), block("well", "")), 1, 2100, 0)
}

func TestAnthropicsCacheKeepsNothingShort(t *testing.T) {
	// A model's least is in its own tokens: 4,096 of haiku 4.5, whose tokens are
	// a tenth smaller, are 3,724 of ours.
	s := openShop(t)
	s.bills("one too few", messages, claude("claude-haiku-4-5", block(word("s", 3623), "5m"), block("hi", "")), 3724, 0, 0)
	s.bills("still too few", messages, claude("claude-haiku-4-5", block(word("s", 3623), "5m"), block("hi", "")), 3724, 0, 0)
	s.bills("enough", messages, claude("claude-haiku-4-5", block(word("s", 3624), "5m"), block("hi", "")), 1, 0, 3724)
	s.bills("read", messages, claude("claude-haiku-4-5", block(word("s", 3624), "5m"), block("hi", "")), 1, 3724, 0)
}

func TestAnthropicsCacheLivesFiveMinutesFromItsLastUse(t *testing.T) {
	s := openShop(t)
	short := claude("claude-opus-5-5", block(word("s", 2000), "5m"), block("hi", ""))
	s.bills("written", messages, short, 1, 0, 2100)
	for range 3 {
		s.clock.Add(4*time.Minute + 59*time.Second)
		s.bills("read in time", messages, short, 1, 2100, 0)
	}
	s.clock.Add(5 * time.Minute)
	s.bills("too late", messages, short, 1, 0, 2100)

	long := claude("claude-opus-5-5", block(word("l", 2000), "1h"), block(word("m", 100), "5m"), block("hi", ""))
	s.bills("written for an hour and less", messages, long, 1, 0, 2200)
	_, got := post(t, s.url+messages, claude("claude-opus-5-5", block(word("n", 2000), "1h"), block(word("m", 100), "5m"), block("hi", "")))
	if hour, less := at(t, got, "usage", "cache_creation", "ephemeral_1h_input_tokens"), at(t, got, "usage", "cache_creation", "ephemeral_5m_input_tokens"); hour != 2100.0 || less != 100.0 {
		t.Errorf("written for an hour %v, for less %v", hour, less)
	}
	s.clock.Add(59 * time.Minute)
	s.bills("the hour's part", messages, long, 1, 2100, 100)
	s.clock.Add(time.Hour)
	s.bills("too late", messages, long, 1, 0, 2200)
}

func TestAnthropicsCacheOfMessagesDependsOnSettings(t *testing.T) {
	s := openShop(t)
	body := claude("claude-opus-5-5", block(word("s", 2000), "5m"), block(word("a", 300), "5m"))
	s.bills("written", messages, body, 0, 0, 2400)
	s.bills("with a choice of tools", messages, strings.Replace(body, `"system"`, `"tool_choice":{"type":"none"},"system"`, 1), 0, 2100, 300)
	s.bills("with another effort", messages, strings.Replace(body, `"system"`, `"output_config":{"effort":"high"},"system"`, 1), 0, 2100, 300)
	s.bills("with the effort it has anyway", messages, strings.Replace(body, `"system"`, `"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"},"system"`, 1), 0, 2400, 0)
	picture := `,{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture(t, 2, 2) + `"}}`
	s.bills("with an image at its end", messages, strings.Replace(body, `}]}]}`, `}`+picture+`]}]}`, 1), 1600, 2100, 300)
	s.bills("as it was", messages, body, 0, 2400, 0)
}

// responses is a body of the Responses API: a system of some tokens, then what
// the two sides say by turns.
func responses(model, key string, system int, said ...string) string {
	var items []string
	for i, text := range said {
		items = append(items, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":"`+text+`"}`)
	}
	return `{"model":"` + model + `","prompt_cache_key":"` + key + `","instructions":"` + word("s", system) + `","input":[` + strings.Join(items, ",") + `]}`
}

const responsesPath = "/v1/responses"

func TestOpenAIsCacheIsReadInSteps(t *testing.T) {
	s := openShop(t)
	s.bills("the first", responsesPath, responses("gpt-5", "k", 1000, word("a", 200)), 1200, 0, 0)
	s.bills("the same", responsesPath, responses("gpt-5", "k", 1000, word("a", 200)), 48, 1152, 0)
	s.bills("more", responsesPath, responses("gpt-5", "k", 1000, word("a", 200), word("b", 100), word("c", 50)), 1350-1152, 1152, 0)
	s.bills("and more", responsesPath, responses("gpt-5", "k", 1000, word("a", 200), word("b", 100), word("c", 50), "okay"), 1351-1280, 1280, 0)
	s.bills("another end", responsesPath, responses("gpt-5", "k", 1000, word("x", 200)), 1200, 0, 0)
	s.bills("another key", responsesPath, responses("gpt-5", "other", 1000, word("a", 200)), 1200, 0, 0)
	s.bills("another model", responsesPath, responses("gpt-5-mini", "k", 1000, word("a", 200)), 1200, 0, 0)
	s.bills("too short", responsesPath, responses("gpt-5", "k", 900, word("a", 123)), 1023, 0, 0)
	s.bills("too short again", responsesPath, responses("gpt-5", "k", 900, word("a", 123)), 1023, 0, 0)
	short := strings.Replace(responses("gpt-5", "k", 2000, "hi"), `"input"`, `"prompt_cache_retention":"in_memory","input"`, 1)
	s.bills("in memory", responsesPath, short, 2001, 0, 0)
	s.clock.Add(4 * time.Minute)
	s.bills("in memory, in time", responsesPath, short, 2001-1920, 1920, 0)
	s.clock.Add(5 * time.Minute)
	s.bills("in memory, too late", responsesPath, short, 2001, 0, 0)
	s.bills("for a day", responsesPath, responses("gpt-5", "k", 1000, word("a", 200)), 48, 1152, 0)
	s.clock.Add(25 * time.Hour)
	s.bills("too late", responsesPath, responses("gpt-5", "k", 1000, word("a", 200)), 1200, 0, 0)
}

func TestOpenAIsNewerCacheIsReadAtBreakpoints(t *testing.T) {
	s := openShop(t)
	a, b, c := word("a", 200), word("b", 100), word("c", 50)
	s.bills("the first", responsesPath, responses("gpt-6-sol", "k", 1000, a), 0, 0, 1200)
	s.bills("the same", responsesPath, responses("gpt-6-sol", "k", 1000, a), 0, 1200, 0)
	s.bills("more", responsesPath, responses("gpt-6-sol", "k", 1000, a, b, c), 0, 1200, 150)
	s.bills("another end", responsesPath, responses("gpt-6-sol", "k", 1000, word("x", 200)), 0, 0, 1200)
	s.bills("half an hour", responsesPath, responses("gpt-6-sol", "k", 1000, a, b, c), 0, 1350, 0)
	s.clock.Add(31 * time.Minute)
	s.bills("too late", responsesPath, responses("gpt-6-sol", "k", 1000, a, b, c), 0, 0, 1350)
	s.bills("too short", responsesPath, responses("gpt-6-sol", "k", 1000, word("a", 23)), 1023, 0, 0)

	marked := func(end string) string {
		return `{"model":"gpt-6-sol","prompt_cache_options":{"mode":"explicit"},"input":[{"role":"user","content":[{"type":"input_text","text":"` + word("m", 1500) + `","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"` + end + `"}]}]}`
	}
	s.bills("marked", responsesPath, marked(word("e", 100)), 100, 0, 1500)
	s.bills("marked, another end", responsesPath, marked(word("f", 100)), 100, 1500, 0)
}

func TestChatIsBilledAsResponsesAre(t *testing.T) {
	s := openShop(t)
	body := `{"model":"gpt-5","prompt_cache_key":"k","messages":[{"role":"system","content":"` + word("s", 1000) + `"},{"role":"user","content":"` + word("a", 200) + `"}]}`
	s.bills("the first", "/v1/chat/completions", body, 1200, 0, 0)
	s.bills("the same", "/v1/chat/completions", body, 48, 1152, 0)
	s.bills("of a server without a cache", "/ollama/v1/chat/completions", strings.Replace(body, "gpt-5", "qwen3", 1), 1200, 0, 0)
}

func TestWhatIsRefusedIsNotBilled(t *testing.T) {
	s := openShop(t)
	body := claude("claude-opus-5-5", block(word("s", 2000), "5m"), block("hi", ""))
	s.server.Script(modeltest.Fail(modeltest.Overloaded))
	if status, got := post(t, s.url+messages, body); status != 529 {
		t.Fatalf("status %d: %s", status, got)
	}
	if u := s.server.Exchanges()[0].Usage; u != (thread.Usage{}) {
		t.Errorf("billed %+v", u)
	}
	s.bills("the first", messages, body, 1, 0, 2100)
}
