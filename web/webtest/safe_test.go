package webtest

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/scripted"
)

// attacks are texts that would run something, load something or lead somewhere if
// they became markup.
var attacks = []string{
	`<script>window.hurt=1</script>`,
	`<img src=x onerror="window.hurt=1">`,
	`<svg/onload=window.hurt=1><animate onbegin=window.hurt=1 attributeName=x dur=1s>`,
	`<iframe srcdoc="<script>parent.hurt=1</script>"></iframe>`,
	`[click](javascript:window.hurt=1) [click](JaVaScRiPt:window.hurt=1) [click](java&#x0A;script:window.hurt=1)`,
	`[click](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuaHVydD0xPC9zY3JpcHQ+) [x](vbscript:msgbox(1))`,
	`![alt](https://evil.example/pixel.png) ![](//evil.example/p.png "t") ![a](javascript:window.hurt=1)`,
	`<a href="javascript:window.hurt=1">go</a> <javascript:window.hurt=1>`,
	`[https://good.example](https://evil.example/x) [a](https://good.example@evil.example/)`,
	"```\"><img src=x onerror=window.hurt=1>\n</code></pre><script>window.hurt=1</script>\n```",
	"| <img src=x onerror=window.hurt=1> | b |\n|:-:|--:|\n| `<script>window.hurt=1</script>` | [x](javascript:window.hurt=1) |",
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hurt=1&gt;">`,
	`<style>*{display:none}</style><link rel=stylesheet href=https://evil.example/x.css><meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<form action=https://evil.example><input name=token><button formaction=javascript:window.hurt=1>Go in</button></form>`,
	"{{constructor.constructor('window.hurt=1')()}} ${window.hurt=1} <!--?lit$123$-->",
}

func TestNothingThatIsSaidRunsLoadsOrHides(t *testing.T) {
	s := open(t)
	s.thread("a", attacks[1]+attacks[0])
	all := strings.Join(attacks, "\n\n")
	s.actor.answer("answer", scripted.Reply{Thinking: all, Text: all, Calls: []scripted.Call{{Name: "look", Input: []byte(`{"what":` + quoted(all) + `}`)}}})
	s.actor.answer("deploy", scripted.Reply{Text: all, Calls: []scripted.Call{{Name: "deploy", Input: []byte(`{"what":` + quoted(all) + `}`)}}})
	p := s.tab("/t/a")
	p.do("window.requests = []; new PerformanceObserver((l) => requests.push(...l.getEntries().map((e) => e.name))).observe({type: 'resource', buffered: true})")
	for _, attack := range attacks {
		p.say(attack)
		p.wait(answered)
	}
	p.say("answer")
	p.wait(answered + "?.textContent.includes('Done: ')")
	p.say("deploy")
	p.wait("document.querySelector('sk-approval')")
	p.do("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
	p.do("document.querySelectorAll('sk-fold button[aria-expanded]').forEach((b) => b.click())")
	p.accessible("attacks")

	if eval[bool](p, "window.hurt === 1") {
		t.Error("something that was said has run")
	}
	if got := eval[[]string](p, "[...document.querySelectorAll('script, iframe, object, embed, style, link, meta, form, img, svg, math, base, [onerror], [onload], [style*=display]')].filter((e) => e.closest('.message, .approval, h1, .threads .title') && !e.matches('.approval form, .button svg, .file svg, .message svg')).map((e) => e.outerHTML.slice(0, 120))"); len(got) > 0 {
		t.Errorf("what was said has become markup: %q", got)
	}
	for _, link := range eval[[][]string](p, "[...document.querySelectorAll('.prose a')].map((a) => [a.href, a.rel, a.target, a.textContent])") {
		if !strings.HasPrefix(link[0], "https://") || !strings.Contains(link[1], "noopener") || link[2] != "_blank" {
			t.Errorf("a link leads to %q", link)
		}
		if strings.Contains(link[0], "evil.example") && !strings.Contains(link[3], "evil.example") {
			t.Errorf("a link does not show its host: %q", link)
		}
	}
	for _, name := range eval[[]string](p, "requests") {
		if !strings.HasPrefix(name, s.url()) {
			t.Errorf("the page has asked for %s", name)
		}
	}
	if got := eval[string](p, "document.title"); !strings.Contains(got, "<img src=x") {
		t.Errorf("the title is not as it is: %q", got)
	}
}

func TestTextsOfEveryKindAreReadable(t *testing.T) {
	s := open(t)
	markdown := strings.Join([]string{
		"# Release notes", "A paragraph with `code`, **strong** and *em* words, a [link](https://example.com/a/b) and ~~nothing~~.",
		"```go\nfunc main() { // a comment\n\tfmt.Println(\"hello, 世界\", 42)\n}\n```",
		"| What | When | How much |\n|---|:-:|--:|\n| Ship | on the 12th | 1,200 |\n| Rest | after | 0 |",
		"1. one\n2. two\n   - nested\n   - " + strings.Repeat("averylongword", 20),
		"> Quoted, and said by somebody else.", "## Emoji 👩‍🚀 🏳️‍🌈 and 日本語の文章", "#### Deep heading", "Last line.",
	}, "\n\n")
	s.thread("a", "שלום עולם — a title in two scripts", "مرحبا، كيف حالك؟ هذا نص من اليمين إلى اليسار 123", "أهلا وسهلا.\n\n- واحد\n- اثنان", "show me", markdown)
	p := s.tab("/t/a")
	p.sees("Last line.")
	p.wait("document.querySelector('.c-word')?.textContent === 'func'")
	if got := eval[string](p, "getComputedStyle(document.querySelector('#m0 .prose p')).direction"); got != "rtl" {
		t.Errorf("Arabic runs %s", got)
	}
	p.accessible("texts")
	for _, width := range []int64{360, 768, 3840} {
		p.size(width, map[int64]int64{360: 740, 768: 1024, 3840: 2160}[width])
		p.picture("texts-" + map[int64]string{360: "360", 768: "768", 3840: "4k"}[width])
		if wide := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, wide)
		}
		if got := eval[[]string](p, "[...document.querySelectorAll('.prose > *, .message > header, .head')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1).map((e) => e.outerHTML.slice(0, 80))"); len(got) > 0 {
			t.Errorf("at %d these reach beyond the window: %q", width, got)
		}
	}
	p.size(360, 740)
	p.accessible("narrow")
	p.do("document.querySelector('.only-narrow').click()")
	p.wait("document.querySelector('ol.threads a').checkVisibility()")
	p.accessible("narrow-list")
}
