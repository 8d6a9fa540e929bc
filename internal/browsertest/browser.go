// Package browsertest opens pages in a browser for tests.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	traffic "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Start returns a headless browser's context, which ends after limit. Without a browser Start skips the test.
func Start(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.WSURLReadTimeout(time.Minute))
		ctx, end := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(end)
		ctx, end = context.WithTimeout(ctx, limit)
		t.Cleanup(end)
		ctx, end = chromedp.NewContext(ctx)
		t.Cleanup(end)
		require.NoError(t, chromedp.Run(ctx))
		return ctx
	}
	t.Skip("no browser: install Chromium ('apt-get install chromium', for instance) to test pages in one")
	return nil
}

// Tab is a browser page. Exceptions, console messages, dialogs and requests to other servers fail the test.
type Tab struct {
	*testing.T
	ctx  context.Context
	host string // the selector given to [Tab.In]
}

// Open runs the actions in a new tab, width pixels wide, and then opens the file at path there.
func Open(t *testing.T, ctx context.Context, path string, width int64, actions ...chromedp.Action) Tab {
	t.Helper()
	return Visit(t, ctx, &url.URL{Scheme: "file", Path: path}, width, actions...)
}

// Visit runs the actions in a new tab and then opens the page at address. If the page sends a request to another
// server, the test fails.
func Visit(t *testing.T, ctx context.Context, address *url.URL, width int64, actions ...chromedp.Action) Tab {
	t.Helper()
	ctx, end := chromedp.NewContext(ctx)
	var mutex sync.Mutex
	var wrong []string
	note := func(format string, arguments ...any) {
		mutex.Lock()
		defer mutex.Unlock()
		wrong = append(wrong, fmt.Sprintf(format, arguments...))
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			note("exception: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			note("console: %s", e.Type)
		case *log.EventEntryAdded:
			note("log: %s", e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			note("dialog: %s", e.Message)
		case *traffic.EventRequestWillBeSent:
			u, err := url.Parse(e.Request.URL)
			inside := err == nil && (u.Scheme == "data" || u.Scheme == "blob")
			if err != nil || !inside && (u.Scheme != address.Scheme || u.Host != address.Host) {
				note("request: %s", e.Request.URL)
			}
		}
	})
	t.Cleanup(func() {
		end()
		mutex.Lock()
		defer mutex.Unlock()
		assert.Empty(t, wrong)
	})
	b := Tab{T: t, ctx: ctx}
	b.Run(traffic.Enable(), emulation.SetDeviceMetricsOverride(width, 900, 1, false))
	b.Run(actions...)
	b.Run(chromedp.Navigate(address.String()))
	return b
}

// Run runs actions, which must succeed.
func (b Tab) Run(actions ...chromedp.Action) {
	b.Helper()
	require.NoError(b, b.Try(actions...))
}

// Try runs actions and returns their error.
func (b Tab) Try(actions ...chromedp.Action) error { return chromedp.Run(b.ctx, actions...) }

// In returns a tab whose expressions ([Tab.JS]) can use $, the first element that matches selector, and find(s), the
// first match of s in $'s shadow root.
func (b Tab) In(selector string) Tab {
	b.host = selector
	return b
}

func (b Tab) of(expression string) string {
	if b.host == "" {
		return expression
	}
	return fmt.Sprintf(`(() => { const $ = document.querySelector(%q), find = s => $.shadowRoot.querySelector(s); `+
		`return (%s) })()`, b.host, expression)
}

// JS stores a JavaScript expression's value in result.
func (b Tab) JS(expression string, result any) {
	b.Helper()
	var text string
	b.Run(chromedp.Evaluate(fmt.Sprintf(`JSON.stringify((%s) ?? null)`, b.of(expression)), &text))
	require.NoError(b, json.Unmarshal([]byte(text), result), text)
}

// Is requires that an expression's value equals want.
func (b Tab) Is(want any, expression string, why ...any) {
	b.Helper()
	encoded, err := json.Marshal(want)
	require.NoError(b, err)
	var got json.RawMessage
	b.JS(expression, &got)
	require.JSONEq(b, string(encoded), string(got), "%s %s", expression, fmt.Sprint(why...))
}

// Until waits until an expression is true, also in background tabs.
func (b Tab) Until(expression string) {
	b.Helper()
	err := b.Try(chromedp.Poll(b.of(expression), nil, chromedp.WithPollingInterval(100*time.Millisecond),
		chromedp.WithPollingTimeout(2*time.Minute)))
	if err != nil {
		var status string
		b.JS(`(document.querySelector('#status') || document.body).textContent`, &status)
		require.NoError(b, err, "%s has not come true; the page says: %s", expression, status)
	}
}
