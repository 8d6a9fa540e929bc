package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"nodemask/internal/browsertest"
	"nodemask/internal/checkout"
	"nodemask/paper/record"
)

// built is the program of pages, compiled once for all tests.
var built = sync.OnceValues(func() (Module, error) {
	project, err := checkout.Root()
	if err != nil {
		return Module{}, err
	}
	return Build(context.Background(), project)
})

// tab is a page that trains, in the browser.
type tab struct{ browsertest.Tab }

// browser starts a browser for a test that trains in it, beside the others: much of the time one waits for it.
func browser(t *testing.T) context.Context {
	if testing.Short() {
		t.Skip("skipped: trains in a browser for up to a minute")
	}
	t.Parallel()
	return browsertest.Start(t, 5*time.Minute)
}

func open(t *testing.T, ctx context.Context, path string, width int64) tab {
	return tab{browsertest.Open(t, ctx, path, width)}
}

// click clicks as a reader does, wherever on the page it is.
func (b tab) click(selector string) {
	b.Helper()
	var there bool
	b.JS(fmt.Sprintf(`(element => { if (element && !element.disabled) element.click(); return Boolean(element) })(document.querySelector(%q))`, selector), &there)
	require.True(b, there, selector)
}

// written writes a page and returns its path.
func written(t *testing.T, change func(o *Options)) string {
	t.Helper()
	module, err := built()
	require.NoError(t, err)
	o := Options{Module: module}
	change(&o)
	folder := t.TempDir()
	if o.Beside != "" {
		f, err := os.Create(filepath.Join(folder, o.Beside))
		require.NoError(t, err)
		require.NoError(t, WriteModule(f, module))
		require.NoError(t, f.Close())
	}
	path := filepath.Join(folder, "page.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, Write(f, o))
	require.NoError(t, f.Close())
	return path
}

func TestAPageTrainsAsTheCommandDoes(t *testing.T) {
	ctx := browser(t)
	b := open(t, ctx, written(t, func(o *Options) { o.Beside = "nodemask.js" }), 1280)
	var said string
	b.JS(`document.querySelector('#saved').textContent`, &said)
	require.Contains(t, said, "A saved run")
	require.Contains(t, said, "seed 6")
	b.Is("true", `String(document.querySelector('#go').getBoundingClientRect().bottom < 300)`, "it trains from the first screen")
	b.Is("4 2 true", `document.querySelectorAll('#loss polyline').length + ' ' + document.querySelectorAll('#outcome p').length + `+
		`' ' + Boolean(document.querySelector('.nodemask-explorer').nodemask)`,
		"curves, scores and the tree of a run are there before anything is pressed")
	b.JS(`[...document.querySelectorAll('#outcome p')].map(p => p.textContent.replace(/ Recorded:.*/, '')).join()`, &said)
	b.click("#both")
	b.Until(`document.querySelector('#saved').hidden`)
	b.Until(`document.querySelectorAll('#outcome p').length === 2 && !document.querySelector('#go').disabled`)
	b.Is(said, `[...document.querySelectorAll('#outcome p')].map(p => p.textContent.replace(/ Recorded:.*/, '')).join()`,
		"what is saved is what the page trains")
	var lines []string
	b.JS(`JSON.parse(localStorage.getItem('nodemask-runs'))`, &lines)
	require.Len(t, lines, 2)
	here, err := defaults()
	require.NoError(t, err)
	for i, arm := range here.Arms {
		sameTrial(t, arm.record, lines[i])
	}
	var masked int
	b.JS(`document.querySelector('.nodemask-explorer').nodemask.masked().length`, &masked)
	require.Positive(t, masked, "the picture shows the last epoch's mask")
}

func TestLettersOnAPhoneAreElevenPixelsHigh(t *testing.T) {
	t.Parallel()
	b := open(t, browsertest.Start(t, 5*time.Minute), written(t, func(o *Options) { o.Beside = "nodemask.js" }), 390)
	var height float64
	for _, drawing := range []string{`document.querySelector('.nodemask-explorer').shadowRoot`,
		`document.querySelector('.charts')`} {
		b.JS(`Math.min(...[...`+drawing+`.querySelectorAll('svg text')].filter(t => t.textContent).map(t => `+
			`parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b)))`, &height)
		require.GreaterOrEqual(t, height, 10.99, drawing)
	}
	b.Is(390, `document.documentElement.scrollWidth`, "nothing is wider than the phone")
}

func TestFromAServerTheProgramStreams(t *testing.T) {
	ctx := browser(t)
	path := written(t, func(o *Options) { o.Beside, o.Files = "nodemask.js", fruit() })
	module, err := built()
	require.NoError(t, err)
	for _, f := range Served(module) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), f.Name), f.Bytes, 0o644))
	}
	var mutex sync.Mutex
	asked := map[string]int{}
	files := http.FileServer(http.Dir(filepath.Dir(path)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		asked[r.URL.Path]++
		mutex.Unlock()
		if r.URL.Path == "/favicon.ico" {
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	address, err := url.Parse(server.URL + "/page.html")
	require.NoError(t, err)
	b := tab{browsertest.Visit(t, ctx, address, 1280)}
	b.set("#seed", "2")
	b.click("#go")
	b.Until(`document.querySelector('#status').textContent.startsWith('Done')`)
	mutex.Lock()
	delete(asked, "/favicon.ico")
	require.Equal(t, map[string]int{"/page.html": 1, "/nodemask-exec.js": 1, "/nodemask.wasm.packed": 1}, asked)
	mutex.Unlock()
}

func TestTwoTabsAtOnceLoseNoRuns(t *testing.T) {
	ctx := browser(t)
	path := written(t, func(o *Options) { o.Beside = "nodemask.js" })
	first, second := open(t, ctx, path, 1280), open(t, ctx, path, 1280)
	tabs := []tab{first, second}
	for i, b := range tabs {
		b.set("#data", "sbm")
		b.set("#seed", fmt.Sprint(10+i))
		b.click("#both")
	}
	for _, b := range tabs {
		b.Until(`document.querySelectorAll('#outcome p').length === 2 && ` + idle)
	}
	var lines []string
	first.JS(`JSON.parse(localStorage.getItem('nodemask-runs'))`, &lines)
	seeds := map[uint64]int{}
	for _, line := range lines {
		r, err := record.Parse([]byte(line))
		require.NoError(t, err)
		seeds[r.Seed]++
	}
	require.Equal(t, map[uint64]int{10: 2, 11: 2}, seeds, "both arms of both tabs; the second tab is in the foreground")
}

// set gives a field a value as a reader does.
func (b tab) set(selector, value string) {
	b.Helper()
	var there bool
	b.JS(fmt.Sprintf(`(element => { if (!element) return false; if (element.type === 'checkbox') element.checked = %[2]q === 'true'; else element.value = %[2]q; for (const kind of ['input', 'change']) element.dispatchEvent(new Event(kind, {bubbles: true})); return true })(document.querySelector(%[1]q))`, selector, value), &there)
	require.True(b, there, selector)
}

// drop lets files fall on the page, as JavaScript's [[name, content], …].
func (b tab) drop(files string) {
	b.Helper()
	var done bool
	b.JS(fmt.Sprintf(`(() => { const data = new DataTransfer(); for (const [name, content] of %s) data.items.add(new File([content], name)); document.querySelector('#drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); return true })()`, files), &done)
}

const idle = `document.querySelector('#stop').disabled`

func TestStoppingRubbishAndReloadingEndWell(t *testing.T) {
	ctx := browser(t)
	b := open(t, ctx, written(t, func(*Options) {}), 1280) // a page that needs no other file
	b.set("#data", "sbm")
	b.Until(`document.querySelector('#about').textContent.includes('nodes')`)

	b.set("#slow", "true")
	b.click("#go")
	b.Until(`document.querySelector('#status').textContent.includes('epoch 2')`)
	b.click("#stop")
	b.Until(`document.querySelector('#status').textContent.startsWith('Stopped after')`)
	b.Until(idle)
	b.set("#slow", "false")
	b.Is("none", `document.querySelector('#no-runs').hidden ? 'kept' : 'none'`, "a trial that was stopped is not kept")

	b.drop(`[['cat.jpg', 'meow']]`)
	b.Until(`document.querySelector('#drop [role=alert]').textContent.includes('expected one .npz, .graphml, .json or .pt file, nodes.csv and edges.csv together, or a list of edges')`)
	b.drop(`[['x.npz', 'not a zip']]`)
	b.Until(`document.querySelector('#drop [role=alert]').textContent.includes('not a whole npz')`)
	b.drop(`[['nodes.csv', 'id,label,x\na,1,0.5\nb,2,zero\n'], ['edges.csv', 'source,target\na,b\n']]`)
	b.Until(`document.querySelector('#drop [role=alert]').textContent.includes('nodes.csv: line 3')`)

	b.drop(`[['friends.txt', 'ann bob\nbob cleo\n']]`)
	b.Until(`document.querySelector('#about').textContent.includes('3 nodes, 2 edges, 0 features, 0 classes: it can be looked at')`)
	b.click("#go")
	b.Until(`document.querySelector('#status').textContent.includes('not trained on: number of classes: 0, expected at least two')`)
	b.Until(idle)

	b.set("#data", "sbm")
	b.click("#go")
	b.Until(`document.querySelector('#status').textContent.startsWith('Done')`)
	b.Run(chromedp.Reload())
	b.Until(`document.querySelectorAll('#runs tbody tr').length === 1`)
	b.Is("1 trial kept in this browser.", `document.querySelector('#count').textContent`)

	// What is stored may be anybody's.
	b.Run(chromedp.Evaluate(`localStorage.setItem('nodemask-runs', '["{}"]')`, nil), chromedp.Reload())
	b.Until(`document.querySelector('#count').textContent.includes('cannot be read')`)
	b.click("#clear")
	b.Until(`!document.querySelector('#no-runs').hidden`)
	b.set("#data", "sbm")
	b.click("#go")
	b.Until(`document.querySelectorAll('#runs tbody tr').length === 1`)
}

// fruit is a graph of two classes that no feature tells: trials of the seeds 2, 4 and 5 stop after some 60 epochs.
func fruit() []File {
	nodes, edges := "id,label,x,z\n", "source,target\n"
	for v := range 80 {
		nodes += fmt.Sprintf("n%d,%s,%d,%d\n", v, []string{"red", "green"}[v%2], v*v%7, v*v%11)
		edges += fmt.Sprintf("n%d,n%d\n", v, (v+7)%80)
	}
	return []File{{"nodes.csv", []byte(nodes)}, {"edges.csv", []byte(edges)}}
}

func TestAGraphOfOnesOwnComesWithThePage(t *testing.T) {
	b := open(t, browser(t), written(t, func(o *Options) {
		o.Title = "Node masking on fruit"
		o.Files = fruit()
	}), 390)
	b.set("#seed", "2")
	b.click("#both")
	b.Until(`document.querySelectorAll('#outcome p').length === 2 && ` + idle)
	b.Is(390, `document.documentElement.scrollWidth`, "nothing is wider than a phone")
	b.Is("fruit", `document.querySelector('#data').selectedOptions[0].textContent`)

	b.set("#seed", "4")
	b.set("#trials", "2")
	b.click("#both")
	b.Until(`document.querySelector('#status').textContent.startsWith('Done: 4 trials')`)
	var status string
	b.JS(`document.querySelector('#status').textContent`, &status)
	require.Regexp(t, `^Done: 4 trials in \d+\.\d s, [1-4] at once\.$`, status)
	b.Is("4", `document.querySelector('#seed').value`, "what was chosen stays: only what the reader changes changes")
	b.JS(`[...document.querySelectorAll('#outcome p')].map(p => p.textContent).join(' ')`, &status)
	require.Regexp(t, `^GIN: macro F1 [\d.]+ ± [\d.]+ on the test nodes, 2 trials\. GIN \+ NM: macro F1 [\d.]+ ± [\d.]+ on the test nodes, 2 trials\.$`, status)
	b.Until(`[...document.querySelectorAll('#runs tbody tr')].map(r => r.cells[2].textContent).filter(text => text.includes('(3)')).length === 2`)
	var lines []string
	b.JS(`JSON.parse(localStorage.getItem('nodemask-runs'))`, &lines)
	arms := map[string]bool{}
	for _, line := range lines {
		r, err := record.Parse([]byte(line))
		require.NoError(t, err)
		require.False(t, arms[fmt.Sprint(r.Cell, r.Seed)], "each seed once an arm")
		arms[fmt.Sprint(r.Cell, r.Seed)] = true
	}
	require.Len(t, arms, 6)
}

// entry is a cell of a table whose trial a page can run again.
func entry(model string) Cell {
	return Cell{Data: "sbm:nodes=120,classes=3,degree=6,seed=1", Model: model, Setting: "inductive", TrainPercent: 50,
		Choices: map[string]string{"hidden": "8", "keep": "0.5", "epochs": "20"}}
}

// A front page and a page of tables, as reports have them: with scripts beside them, and a policy that lets no style
// in.
func TestReportsTrainInTheirPicturesAndTables(t *testing.T) {
	ctx := browser(t)
	path := written(t, func(o *Options) { o.Beside, o.Data = "nodemask.js", []string{"fruit"} })
	folder := filepath.Dir(path)
	beside, err := DataScript("fruit", fruit())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, DataScriptName("fruit")), beside, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "front.js"), []byte(Front), 0o644))
	native, recorded := session(t), map[string]recordedCell{}
	models := []string{"gin", "gat", "sgat"}
	var fields strings.Builder
	for _, model := range models {
		key, err := json.Marshal(entry(model))
		require.NoError(t, err)
		_, done := trained(t, native, Request{Cell: entry(model), Seed: 1})
		one, err := record.Parse([]byte(done.Record))
		require.NoError(t, err)
		recorded[string(key)] = recordedCell{Command: "nodemask train", Seeds: []uint64{1, 2}, F1: []float64{79, 80},
			Again: &again{1, one.SplitHash, one.MacroF1, one.BestEpoch, one.Epochs, 1}}
		fmt.Fprintf(&fields, `<td id=%q title="2 trials; more" data-cell='%s'>79.50<small> ± 0.71</small><br/>80</td>`, model,
			key)
	}
	gin, err := json.Marshal(entry("gin"))
	require.NoError(t, err)
	places, err := json.Marshal([]map[string]any{{"left": 25, "top": 50, "name": "GIN, 0.5: 79.00", "cell": string(gin)},
		{"left": 75, "top": 50, "name": "gain, 50: 1.00", "cell": string(gin) + "\n" + `{"data":"cora","model":"gin",` +
			`"setting":"inductive","train":50,"choices":{}}`}})
	require.NoError(t, err)
	trials, err := json.Marshal(recorded)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, TrialsScriptName), fmt.Appendf(nil, "window.nodemaskTrials = %s",
		trials), 0o644))
	report := filepath.Join(folder, "index.html")
	require.NoError(t, os.WriteFile(report, fmt.Appendf(nil, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src file: 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; img-src data:; connect-src 'none'">
<title>reports</title></head><body><main><div data-nodemask-live><p id="still">a picture</p></div>
<table><tr>%s<td id="none" data-cell='{"data":"citeseer","model":"gin","setting":"transductive","train":50,"choices":{}}'>60.00</td></tr></table>
<img alt="a chart" width="400" height="200" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='400' height='200'/>" data-places='%s'>
</main><script src="front.js" defer></script></body></html>`, fields.String(), places), 0o644))
	playground := open(t, ctx, path, 1280)
	playground.set("#data", "fruit")
	playground.Until(`document.querySelector('#about').textContent.startsWith('80 nodes, 80 edges, 2 features, 2 classes')`)
	b := open(t, ctx, report, 1280)
	b.Until(`document.querySelector('.nm-go') !== null`)
	var text string
	b.Is("a picture", `document.querySelector('#still').textContent`, "what was there stays until something is trained")

	for _, model := range models {
		b.click("#" + model)
		b.Until(`!document.querySelector('dialog .nm-go').hidden`)
		b.Is("true In the table: 79.50 ± 0.71 (2 trials). nodemask train 2 recorded trials", `document.querySelector('dialog').open + `+
			`['.nm-recorded', 'code', 'summary'].map(s => ' ' + document.querySelector('dialog ' + s).textContent).join('')`)
		b.click("dialog .nm-go")
		b.Until(`/^(Equal|It differs|Not)/.test(document.querySelector('dialog .nm-status').textContent)`)
		key, err := json.Marshal(entry(model))
		require.NoError(t, err)
		want := recorded[string(key)].Again
		b.Is(fmt.Sprintf("Equal, to the last digit: macro F1 %v, epoch %d of %d kept.", want.MacroF1, want.BestEpoch, want.Epochs),
			`document.querySelector('dialog .nm-status').textContent`)
		b.click("dialog .nm-close")
	}

	// Another number is not called the same.
	b.JS(`(() => { for (const cell of Object.values(window.nodemaskTrials)) cell.again.macro_f1 += 1; return '' })()`, &text)
	b.click("#gin")
	b.Until(`!document.querySelector('dialog .nm-go').hidden`)
	b.click("dialog .nm-go")
	b.Until(`document.querySelector('dialog .nm-status').textContent.startsWith('It differs by −')`)
	b.click("dialog .nm-close")

	b.click("#none")
	b.Is("true true", `document.querySelector('dialog').open + ' ' + document.querySelector('dialog .nm-go').hidden`,
		"what no trial is recorded of cannot be run")
	b.click("dialog .nm-close")

	b.Is("100 100 GIN, 0.5: 79.00. Run it here", `(point => { const [p, i] = [point.getBoundingClientRect(), point.parentElement.querySelector('img').getBoundingClientRect()]; return [p.x + p.width / 2 - i.x, p.y + p.height / 2 - i.y].map(Math.round).join(' ') + ' ' + point.getAttribute('aria-label') })(document.querySelector('.nm-point'))`)
	b.click(".nm-point")
	b.Is("true In the figure: GIN, 0.5: 79.00.", `document.querySelector('dialog').open + ' ' + document.querySelector('.nm-recorded').textContent`)
	b.click("dialog .nm-close")

	// A difference has two cells.
	b.click(".nm-point:last-of-type")
	heads := `['h2', '.nm-recorded', '.nm-other', '.nm-status'].map(s => document.querySelector('dialog ' + s).textContent).join(' / ')`
	b.Until(`!document.querySelector('dialog .nm-go').hidden`)
	b.Is("true", `String(`+heads+`.includes('keep 0.5 / In the figure: gain, 50: 1.00. / Show it without masking / Seed 1'))`)
	b.click("dialog .nm-other")
	b.Is("GIN on cora, inductive, 50 % to train on / In the figure: gain, 50: 1.00. / Show it with masking / No trial of this "+
		"is recorded as browsers compute it, so a page has nothing to compare with.", heads)
	b.click("dialog .nm-close")

	// The panel is closed, opened and set to work before the browser says that it has closed: what runs now is not what
	// was meant.
	b.Is("Stop", `document.querySelector('.nm-point').click(), document.querySelector('dialog .nm-close').click(), document.querySelector('.nm-point').click(), document.querySelector('dialog .nm-go').click(), document.querySelector('dialog .nm-go').textContent`)
	b.Until(`document.querySelector('dialog .nm-status').textContent.startsWith('It differs by')`)
	b.click("dialog .nm-close")

	b.click("[data-nodemask-live] .nm-go")
	b.Until(`document.querySelector('[data-nodemask-live] .nm-status').textContent.includes('seed 1, epoch 2')`)
	if os.Getenv("NODEMASK_TORTURE") == "" {
		return // two networks on half of Cora: half a minute
	}
	b.Until(`document.querySelector('[data-nodemask-live] .nm-status').textContent.startsWith('Macro F1 on the test nodes, masked: ')`)
	b.JS(`document.querySelector('[data-nodemask-live] .nm-status').textContent`, &text)
	require.Regexp(t, `masked: \d+\.\d; nothing masked: \d+\.\d \(seed 1\)\.`, text)
}
