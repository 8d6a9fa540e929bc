package notebooktest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdp "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/browsertest"
	"nodemask/page"
)

// openBrowser starts a headless Chromium, or skips the test. complaints returns errors in its pages, and requests to
// addresses without an allowed prefix.
func openBrowser(t *testing.T, allowed ...string) (ctx context.Context, complaints func() []string) {
	ctx = browsertest.Start(t, 10*time.Minute)
	var mu sync.Mutex
	var heard []string
	complain := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			address := e.Request.URL
			for _, beginning := range append(allowed, "data:", "blob:") {
				if strings.HasPrefix(address, beginning) {
					return
				}
			}
			complain("loads %s", address)
		case *cdp.EventExceptionThrown:
			complain("throws %s", e.ExceptionDetails.Error())
		case *cdp.EventConsoleAPICalled:
			if e.Type == cdp.APITypeError {
				for _, a := range e.Args {
					complain("console: %s %s", a.Value, a.Description)
				}
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				complain("logs %s (%s)", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	// JupyterLab has no current widget while its window lacks focus.
	require.NoError(t, chromedp.Run(ctx, network.Enable(), log.Enable(), emulation.SetFocusEmulationEnabled(true)))
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return heard
	}
}

// eval evaluates JavaScript, which may be a promise.
func eval[T any](t *testing.T, ctx context.Context, script string) (value T) {
	t.Helper()
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(script, &value,
		func(p *cdp.EvaluateParams) *cdp.EvaluateParams { return p.WithAwaitPromise(true) })), script)
	return value
}

// until waits for a condition in JavaScript; while the page loads it may fail.
func until(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	if soon(ctx, condition, 3*time.Minute) {
		return
	}
	require.Fail(t, "this has not come true in three minutes: "+condition, "%v",
		chromedp.Run(ctx, chromedp.Evaluate("!!("+condition+")", nil)))
}

// soon reports whether a condition in JavaScript becomes true in time.
func soon(ctx context.Context, condition string, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); {
		var met bool
		if _ = chromedp.Run(ctx, chromedp.Evaluate("!!("+condition+")", &met)); met {
			return true
		}
		_ = chromedp.Run(ctx, chromedp.Sleep(50*time.Millisecond))
	}
	return false
}

// executed runs the first notebook and writes pages, also of other notebooks that were run. It returns the folders of
// pages and of executed notebooks.
func executed(t *testing.T) (pages, run string) {
	labPython(t)
	pages = t.TempDir()
	// 'nodemask page --site' writes this first: pages link to the playground and load its script.
	var playground bytes.Buffer
	require.NoError(t, page.Write(&playground, page.Options{Beside: "nodemask.js"}))
	require.NoError(t, os.WriteFile(filepath.Join(pages, "playground.html"), playground.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(pages, "front.js"), []byte(page.Front), 0o644))
	c := exec.Command(project+"/scripts/reports/run.sh", "--out", pages, notebooks+"/00-start-here.ipynb")
	c.Env = append(os.Environ(), "NODEMASK_SMALL=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return pages, filepath.Join(project, ".nodemask", "notebooks")
}

// prefers switches pages to light or dark colours.
func prefers(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
		Value: scheme}})
}

func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	ctx, complaints := openBrowser(t, "file:")
	folder, _ := executed(t)
	pages, err := filepath.Glob(filepath.Join(folder, "*.html"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(pages), 2)
	for _, page := range pages {
		if name := filepath.Base(page); strings.HasPrefix(name, "go-") && name != "go-nmgnn.html" {
			continue // one of the Go packages is enough
		}
		for _, width := range []int64{1300, 390} {
			stem := strings.TrimSuffix(filepath.Base(page), ".html")
			name := fmt.Sprintf("%s, %d", stem, width)
			require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), prefers("light"),
				chromedp.Navigate("file://"+page)))
			assert.Equal(t, 1, eval[int](t, ctx, `document.querySelectorAll('h1').length`), name)
			assert.Empty(t, eval[[]string](t, ctx, `(() => { let last = 0; return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')]
				.filter(h => { const level = +h.tagName[1], far = level > last + 1; last = level; return far }).map(h => h.textContent) })()`), "headings that skip a level: %s", name)
			assert.Empty(t, eval[[]string](t, ctx,
				`[...document.images].filter(i => !i.alt && i.getAttribute('role') !== 'presentation' || !i.complete || !i.naturalWidth).map(i => i.alt + ' ' + i.src.slice(0, 60))`), "pictures that are not shown or have no alt: %s", name)
			assert.LessOrEqual(t, eval[int](t, ctx, `document.documentElement.scrollWidth`), int(width),
				"wider than the window: %s", name)
			assert.Empty(t, eval[[]string](t, ctx,
				`[...document.querySelectorAll('math')].filter(m => m.getBoundingClientRect().height < 5).map(m => m.getAttribute('alttext'))`), "formulas that are not shown: %s", name)
			assert.Equal(t, "16px", eval[string](t, ctx, `getComputedStyle(document.body).fontSize`), name)
			assert.False(t, eval[bool](t, ctx,
				`(c => c && c.getBoundingClientRect().height > 0 && c.getBoundingClientRect().top < document.querySelector('h1').getBoundingClientRect().bottom)(document.querySelector('.contents')) && innerWidth < 1600`), "the contents come before the title: %s", name)
			cut := eval[[]string](t, ctx,
				`[...document.querySelectorAll('.html, .html > div, .scroll')].filter(b => b.scrollWidth > b.clientWidth + 1 && !(b.classList.contains('wide') && innerWidth < 800)).map(b => b.scrollWidth + ' px: ' + b.textContent.trim().slice(0, 60))`)
			assert.Empty(t, cut, "tables or pictures that are cut off, or do not say that they scroll: %s", name)
			assert.Empty(t, eval[[]string](t, ctx, `(() => { dispatchEvent(new Event('beforeprint')); const left = [...document.querySelectorAll('details.code:not([open])')].map(d => d.textContent);
				dispatchEvent(new Event('afterprint')); return left })()`), "code that is not printed: %s", name)
			assert.Empty(t, eval[[]string](t, ctx,
				`[...document.querySelectorAll('details.code[open]')].map(d => d.textContent)`), "code that is not folded: %s",
				name)
			// The same page in the other colours: elements without a colour do not change.
			for _, scheme := range []string{"light", "dark"} {
				require.NoError(t, chromedp.Run(ctx, prefers(scheme)))
				light := eval[bool](t, ctx,
					`(c => c[0] > 128)(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number))`)
				assert.Equal(t, scheme == "light", light, name)
				assert.LessOrEqual(t, eval[int](t, ctx, `document.documentElement.scrollWidth`), int(width),
					"wider than the window: %s, %s", name, scheme)
			}
		}
	}
	assert.Empty(t, complaints())
}

// startLab starts JupyterLab in a folder, with its own files, and returns its address. After the test it ends with all
// its processes.
func startLab(t *testing.T, folder string) (address, token string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	address, token = fmt.Sprintf("http://127.0.0.1:%d", port), rand.Text()

	mark := "NODEMASK_TEST_RUN=" + rand.Text()
	c := exec.Command(project+"/scripts/lab/start.sh", strconv.Itoa(port), "--no-browser", "--ServerApp.port_retries=0",
		"--LabApp.expose_app_in_browser=True")
	c.Env = append(os.Environ(), "JUPYTER_HOME="+t.TempDir(), "JUPYTER_ROOT="+folder, "JUPYTER_TOKEN="+token,
		mark)
	said := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(said)
	require.NoError(t, err)
	c.Stdout, c.Stderr = log, log
	require.NoError(t, c.Start())
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = c.Process.Kill()
			t.Error("JupyterLab does not end")
		}
		_ = log.Close()
		if runtime.GOOS == "linux" {
			assert.Eventually(t, func() bool { return len(processesWith(mark)) == 0 }, 20*time.Second, 50*time.Millisecond,
				"processes that JupyterLab left behind")
			for _, pid := range processesWith(mark) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if t.Failed() {
			text, _ := os.ReadFile(said)
			t.Logf("JupyterLab said: %s", text)
		}
	})
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		answer, err := http.Get(address + "/api/status?token=" + token)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, time.Minute, 50*time.Millisecond, "JupyterLab does not start")
	select {
	case <-ended:
		require.Fail(t, "JupyterLab ended at once")
	default:
	}
	return address, token
}

// processesWith finds processes by an environment entry.
func processesWith(entry string) (pids []int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		for line := range strings.SplitSeq(string(data), "\x00") {
			if line == entry {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// errorsShown are the errors below a lab's cells.
const errorsShown = `[...document.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"], ` +
	`[data-mime-type="application/vnd.jupyter.error"]')].map(e => e.textContent)`

// openLab starts JupyterLab with copies of notebooks, by new names, and a browser restricted to it, which shows it.
// small is $NODEMASK_SMALL.
func openLab(t *testing.T, small string, files map[string]string) (ctx context.Context, complaints func() []string) {
	labPython(t)
	// Inside the project, where the kernel looks for the module and for XLA.
	folder, err := os.MkdirTemp(filepath.Join(project, ".nodemask"), "browser-test.*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	folder, err = filepath.Abs(folder)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "notebooks"), 0o755))
	for to, from := range files {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "notebooks", to), data, 0o644))
	}
	t.Setenv("NODEMASK_LIVE", filepath.Join(folder, "live"))
	t.Setenv("NODEMASK_SMALL", small)
	address, token := startLab(t, folder)
	ctx, complaints = openBrowser(t, address, strings.Replace(address, "http", "ws", 1))
	require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(1300, 2400),
		chromedp.Navigate(address+"/api?token="+url.QueryEscape(token)))) // its cookie replaces the token
	return ctx, complaints
}

// show opens a notebook in the lab, and waits for its kernel.
func show(t *testing.T, ctx context.Context, name string) {
	address := eval[string](t, ctx, `location.origin`)
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(address+"/lab/tree/notebooks/"+name)))
	// Notebooks that were open before reappear, and may be in front for a moment.
	until(t, ctx, fmt.Sprintf(`globalThis.jupyterapp?.shell?.currentWidget?.context?.path === %q && `+
		`document.querySelector('.jp-Notebook .jp-CodeCell')`, "notebooks/"+name))
	eval[any](t, ctx, `(async () => { const w = jupyterapp.shell.currentWidget; await w.context.ready; `+
		`await w.sessionContext.ready; await w.sessionContext.session.kernel.info; })()`)
}

func TestJupyterLabInABrowser(t *testing.T) {
	_, results := executed(t)
	ctx, complaints := openLab(t, "1", map[string]string{
		"00-start-here.ipynb": filepath.Join(notebooks, "00-start-here.ipynb"),
		"executed.ipynb":      filepath.Join(results, "00-start-here.ipynb")})

	// The address printed by 'make lab' redirects here.
	show(t, ctx, "00-start-here.ipynb")
	cells := eval[int](t, ctx,
		`jupyterapp.shell.currentWidget.content.model.sharedModel.cells.filter(c => c.cell_type === 'code').length`)
	require.Positive(t, cells)
	start := time.Now()
	assert.True(t, eval[bool](t, ctx, `jupyterapp.commands.execute('notebook:run-all-cells').then(() => true)`))
	t.Logf("all cells ran in %.1f s", time.Since(start).Seconds())
	until(t, ctx, fmt.Sprintf(`document.querySelectorAll('.jp-CodeCell .jp-OutputArea-output').length >= %d`, cells))
	assert.Empty(t, eval[[]string](t, ctx, errorsShown))
	until(t, ctx, `[...document.querySelectorAll('.jp-OutputArea img')].some(i => i.complete && i.naturalWidth > 0)`)
	assert.Equal(t, "Go (nodemask)", eval[string](t, ctx,
		`jupyterapp.shell.currentWidget.sessionContext.kernelDisplayName`))
	assert.Equal(t, []string{"nodemask"}, eval[[]string](t, ctx,
		`Object.keys(jupyterapp.serviceManager.kernelspecs.specs.kernelspecs)`), "other kernels are offered")
	assert.Zero(t, eval[int](t, ctx, `document.querySelectorAll('.Toastify__toast, .jp-Dialog').length`),
		"something pops up")
	eval[any](t, ctx, `jupyterapp.commands.execute('docmanager:save')`) // else it asks before leaving

	show(t, ctx, "executed.ipynb")
	assert.False(t, eval[bool](t, ctx,
		`[...jupyterapp.shell.currentWidget.content.widgets].filter(c => c.model.type === 'code').every(c => c.model.trusted)`), "the copy is trusted")
	until(t, ctx, `[...document.querySelectorAll('.jp-OutputArea img')].some(i => i.complete && i.naturalWidth > 0 && i.alt)`)
	assert.Positive(t, eval[int](t, ctx, `document.querySelectorAll('.jp-OutputArea table').length`))

	assert.Empty(t, complaints())
}
