package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// chromium is the browser that all tests share, started by the first.
var chromium = struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}{end: func() {}}

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.end()
	os.Exit(code)
}

func browser(t testing.TB) context.Context {
	t.Helper()
	chromium.once.Do(func() {
		path, err := exec.LookPath("chromium")
		if err != nil {
			chromium.err = err
			return
		}
		dir, err := os.MkdirTemp("", "skein-chromium-")
		if err != nil {
			chromium.err = err
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-GB"),
		)
		alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, endTab := chromedp.NewContext(alloc)
		chromium.ctx, chromium.err = ctx, chromedp.Do(ctx)
		chromium.end = func() {
			endTab()
			endAlloc()
			_ = os.RemoveAll(dir) // what a browser leaves in a temporary folder
		}
	})
	if chromium.err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("there is no browser: %v", chromium.err)
		}
		t.Skipf("there is no browser (install Debian's chromium): %v", chromium.err)
	}
	return chromium.ctx
}

// tab is a page that is looked at.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	troubles []string
	expected []string // words of troubles that a test brings about
}

// tab opens a path of the site. Troubles with the words expected are what the test
// brings about.
func (s *site) tab(path string, expected ...string) *tab {
	s.Helper()
	if s.browser == nil {
		ctx, end := chromedp.NewContext(browser(s), chromedp.WithNewBrowserContext())
		s.browser = ctx
		s.Cleanup(end)
		s.must(chromedp.Do(ctx))
	}
	ctx, end := chromedp.NewContext(s.browser)
	t := &tab{TB: s.TB, ctx: ctx, expected: expected}
	s.Cleanup(end)
	s.must(chromedp.Do(ctx)) // the tab lives as long as the context that makes it
	s.must(chromedp.Listen(ctx, t.hear))
	call(t, log.Enable, cdp.Empty{})
	t.size(1280, 860)
	t.prefers("light")
	t.run(chromedp.Navigate(s.url() + path))
	t.Cleanup(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, what := range t.troubles {
			t.Errorf("the page is in trouble: %s", what)
		}
	})
	return t
}

func (t *tab) hear(event any) {
	what := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		what = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			what += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, a := range e.Args {
				what += string(a.Value) + a.Description + " "
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			what = e.Entry.Text + " " + e.Entry.URL
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if what == "" {
		return
	}
	for _, words := range t.expected {
		if strings.Contains(what, words) {
			return
		}
	}
	t.troubles = append(t.troubles, what)
}

// expect says that troubles with these words are what the test wants.
func (t *tab) expect(words ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected = append(t.expected, words...)
}

func (t *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// call runs a command of the browser's protocol.
func call[P, R any](t *tab, command cdp.Command[P, R], with P) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, with)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eval evaluates a JavaScript expression in the page.
func eval[T any](t *tab, js string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v, in: %.300s", err, js)
	}
	return v
}

// do evaluates JavaScript for what it does.
func (t *tab) do(js string) { t.Helper(); t.run(chromedp.Evaluate[chromedp.Void](js)) }

// wait waits until an expression is true.
func (t *tab) wait(js string) {
	t.Helper()
	end := time.Now().Add(patience)
	for !t.holds(js) {
		if time.Now().After(end) {
			name := "failed-" + strings.ReplaceAll(t.Name(), "/", "-")
			t.picture(name)
			t.Fatalf("this did not come true: %s\nthe page says:\n%s", js, eval[string](t, "document.body.innerText"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// holds says whether an expression is true now. A page that is just being left
// has nothing to say.
func (t *tab) holds(js string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
	if err != nil && !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "Cannot find context") {
		t.Fatalf("%v, in: %.300s", err, js)
	}
	return v
}

// sees waits until the page shows the text.
func (t *tab) sees(text string) {
	t.Helper()
	t.wait("document.body.innerText.includes(" + quoted(text) + ")")
}

// misses waits until the page does not show the text.
func (t *tab) misses(text string) {
	t.Helper()
	t.wait("!document.body.innerText.includes(" + quoted(text) + ")")
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// click clicks the first visible element of a selector, as a mouse does.
func (t *tab) click(selector string) {
	t.Helper()
	t.wait("document.querySelector(" + quoted(selector) + ")?.checkVisibility()")
	t.do("document.querySelector(" + quoted(selector) + ").scrollIntoView({block: 'nearest'})")
	t.run(chromedp.Click(chromedp.CSS(selector)))
}

// clickText clicks the button, link or menu item that says the text.
func (t *tab) clickText(text string) {
	t.Helper()
	find := "[...document.querySelectorAll('button, a, [role=menuitem]')].filter((e) => e.checkVisibility() && e.textContent.trim().includes(" + quoted(text) + "))[0]"
	t.wait(find)
	t.do(find + ".click()")
}

// write types a text where the focus is, as an input method does.
func (t *tab) write(text string) {
	t.Helper()
	call(t, input.InsertText, input.InsertTextParams{Text: text})
}

// keyCodes are those of the keys that are no characters.
var keyCodes = map[string]int64{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "End": 35, "Home": 36, "Backspace": 8}

// keys presses keys one after the other: by their names, or the character. A key
// goes down with its text in one event, as a keyboard's does, so that who prevents
// the one prevents the other.
func (t *tab) keys(keys ...string) {
	t.Helper()
	for _, k := range keys {
		t.press(k, 0)
	}
}

// ctrl presses a key with Control.
func (t *tab) ctrl(key string) { t.Helper(); t.press(key, int64(kb.ModifierCtrl)) }

func (t *tab) press(key string, modifiers int64) {
	t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: keyCodes[key], Modifiers: modifiers}
	switch {
	case modifiers != 0:
	case key == "Enter":
		down.Text = "\r"
	case len(key) == 1:
		down.Text, down.Code = key, ""
	}
	call(t, input.DispatchKeyEvent, down)
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	call(t, input.DispatchKeyEvent, up)
}

// say types a message and sends it.
func (t *tab) say(text string) {
	t.Helper()
	t.wait("document.querySelector('sk-composer textarea') && document.querySelector('.head .standing')?.dataset.is === 'live'")
	t.do("document.querySelector('sk-composer textarea').focus()")
	t.write(text)
	t.keys("Enter")
}

// size makes the window another size.
func (t *tab) size(width, height int64) {
	t.Helper()
	call(t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}

// dark or light is what the system prefers.
func (t *tab) prefers(scheme string) {
	t.Helper()
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// picture keeps what the page looks like, where a folder is given for it.
func (t *tab) picture(name string) {
	t.Helper()
	dir := os.Getenv("SKEIN_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, 2*patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// accessible has axe look at the page, in light and dark, and keeps pictures.
func (t *tab) accessible(name string) {
	t.Helper()
	const path = "../page/node_modules/axe-core/axe.min.js"
	axe, err := os.ReadFile(path)
	if err != nil && os.Getenv("SKEIN_REQUIRE") == "all" {
		t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		t.prefers(scheme)
		t.picture(name + "-" + scheme)
		if err != nil {
			t.Logf("%s is not looked at by axe: run npm ci in web/page", name)
			continue
		}
		t.do(string(axe))
		found := eval[string](t, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.map((n) => "    " + n.target + "  " + n.html.slice(0, 200) + "\n      " + n.failureSummary.replace(/\n\s*/g, " ")).join("\n")).join("\n"))`)
		if found != "" {
			t.Errorf("axe finds in %s, %s:\n%s", name, scheme, found)
		}
	}
	t.prefers("light")
}

// text is what an element says.
func (t *tab) text(selector string) string {
	t.Helper()
	return eval[string](t, fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quoted(selector)))
}

func contains(s, part string) bool { return strings.Contains(s, part) }
