package nb

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"

	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/plots"
)

// frontEndPatience is how long each form waits for the browser's first message before assuming there is none. gonb
// allows a connection three seconds, which a busy machine exceeds, and the form is then dead: a second one finds the
// connection made.
var frontEndPatience = []time.Duration{5 * time.Second, 15 * time.Second}

// Playground shows controls for all choices and trains on demand, with live losses, until Close or the notebook's stop
// button is pressed.
//
// gonb's widgets need a connection, which a notebook run without a browser or behind JupyterHub lacks. There,
// Playground links to the page that trains in a browser, and trains one model with and without masking.
func Playground() {
	if !gonbui.IsNotebook || os.Getenv("NODEMASK_NOTEBOOK_RUN") != "" {
		staticPlayground("This page has no Go kernel behind it: [the playground page](playground.html) has the sliders, " +
			"and trains in your browser.")
		return
	}
	ctx, stop := notebook.UntilStopped()
	defer stop()
	output := "nodemask-playground-" + gonbui.UniqueId()
	for _, patience := range frontEndPatience {
		p := newPlayground()
		ready := make(chan struct{})
		building, giveUp := context.WithTimeout(ctx, patience)
		defer giveUp()
		go func() {
			p.build(building, output)
			close(ready)
		}()
		select {
		case <-ready:
			p.serve(ctx)
			return
		case <-building.Done():
		}
		if ctx.Err() != nil {
			return
		}
	}
	gonbui.UpdateHTML(output, "")
	staticPlayground("The sliders cannot reach this notebook, as behind a JupyterHub. Open it in JupyterLab on this " +
		"computer (`make lab`), or open `reports/playground.html` (`make`) in a browser: it trains there, without a kernel.")
}

func staticPlayground(why string) {
	Markdown("*" + why + " This is one run with and without node masking instead.*")
	plain := paper.Cell("cora", "gin", datasets.Transductive, 10)
	Train(1, plain, paper.Masked(plain, paper.MaskedKeepRate))
	Compare(plain, paper.Masked(plain, paper.MaskedKeepRate))
}

const playgroundNodes = 50_000

type playground struct {
	id                         string
	data                       []string // available here
	dataMenu, model, setting   *widgets.SelectBuilder
	size                       *widgets.SelectBuilder
	keepRate, layers           *widgets.SliderBuilder
	train, stop, close         *widgets.ButtonBuilder
	progress                   *notebook.Progress
	cells                      []record.Cell // in order of first training
	tableID                    string
	running                    bool
	cancel                     context.CancelFunc
	finished                   chan error
	keepRateShown, layersShown string
}

func newPlayground() *playground {
	p := &playground{id: "nm" + gonbui.UniqueId(), tableID: "nodemask-table-" + gonbui.UniqueId(),
		finished: make(chan error, 1)}
	for _, info := range datasets.Catalogue() {
		if info.Nodes == 0 || info.Nodes > playgroundNodes {
			continue
		}
		if _, err := datasets.Locate(info.Name, datasets.OpenOptions{}); err == nil {
			p.data = append(p.data, info.Name)
		}
	}
	return p
}

// build shows the form in an output and waits for the browser's answer for each part. Once ctx is done, as when another
// form replaces it, the goroutine ends at the next part.
func (p *playground) build(ctx context.Context, output string) {
	comms.Start()
	row := func(name, label string) string {
		return fmt.Sprintf(`<div style="display:flex;gap:.6em;align-items:center;margin:.3em 0">`+
			`<label for="%s-%s" style="min-width:11em">%s</label><span id="%[1]s-%[2]s-at"></span>`+
			`<output id="%[1]s-%[2]s-is"></output></div>`, p.id, name, html.EscapeString(label))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" role="group" aria-label="Playground">`, p.id)
	for _, r := range [][2]string{{"data", "Data"}, {"model", "Model"}, {"setting", "Setting"},
		{"size", "Nodes to train on"}, {"keep", "Keep rate p"}, {"layers", "Layers"}} {
		b.WriteString(row(r[0], r[1]))
	}
	fmt.Fprintf(&b, `<div style="display:flex;gap:.6em;margin:.6em 0"><span id="%s-train-at"></span>`+
		`<span id="%[1]s-stop-at"></span><span id="%[1]s-close-at"></span></div></div>`, p.id)
	gonbui.UpdateHTML(output, b.String())
	gonbui.Sync()
	at := func(name string) string {
		if ctx.Err() != nil {
			runtime.Goexit()
		}
		return p.id + "-" + name + "-at"
	}
	id := func(name string) string { return p.id + "-" + name }
	var settings, sizes, models []string
	for _, s := range datasets.Settings() {
		settings = append(settings, string(s))
	}
	for _, s := range report.Sizes() {
		sizes = append(sizes, fmt.Sprintf("%d %%", s))
	}
	for _, m := range hyper.Models() {
		models = append(models, hyper.Title(m))
	}
	menu := func(name string, options []string) *widgets.SelectBuilder {
		return widgets.Select(options).WithHtmlId(id(name)).AppendTo(at(name))
	}
	slider := func(name string, from, to, value int) *widgets.SliderBuilder {
		return widgets.Slider(from, to, value).WithHtmlId(id(name)).AppendTo(at(name)).Done()
	}
	button := func(name, label string) *widgets.ButtonBuilder {
		return widgets.Button(label).WithHtmlId(id(name)).AppendTo(at(name)).Done()
	}
	p.dataMenu, p.model, p.size = menu("data", p.data).Done(), menu("model", models).Done(), menu("size", sizes).Done()
	p.setting = menu("setting", settings).SetDefault(slices.Index(datasets.Settings(), datasets.Transductive)).Done()
	p.keepRate, p.layers = slider("keep", 1, 10, 5), slider("layers", 1, 8, 2)
	p.train, p.stop, p.close = button("train", "Train"), button("stop", "Stop"), button("close", "Close")
}

func (p *playground) serve(ctx context.Context) {
	keepRate, layers := p.keepRate.Listen().LatestOnly(), p.layers.Listen().LatestOnly()
	train, stop, done := p.train.Listen().LatestOnly(), p.stop.Listen().LatestOnly(), p.close.Listen().LatestOnly()
	p.progress = notebook.NewProgress("the runs so far", 0)
	p.progress.Say("Choose, then press Train.")
	p.showValues(p.keepRate.Value(), p.layers.Value())
	for {
		select {
		case v := <-keepRate.C:
			p.showValues(v, p.layers.Value())
		case v := <-layers.C:
			p.showValues(p.keepRate.Value(), v)
		case <-train.C:
			if p.running {
				p.progress.Say("It is training: press Stop first.")
				continue
			}
			p.begin(ctx)
		case <-stop.C:
			if p.running {
				p.cancel()
			}
		case err := <-p.finished:
			p.running = false
			p.end(err)
		case <-done.C:
			p.leave("Closed.")
			return
		case <-ctx.Done():
			p.leave("Stopped.")
			return
		}
	}
}

func (p *playground) leave(why string) {
	if p.running {
		p.cancel()
		var _ error = <-p.finished // ignored by now
	}
	p.progress.Say(why + " Run the cell again for another round; trials that were finished are kept.")
	gonbui.Sync()
}

func (p *playground) showValues(keepRate, layers int) {
	k := fmt.Sprintf("%.1f", float64(keepRate)/10)
	if keepRate == 10 {
		k = "1 (no masking)"
	}
	if k != p.keepRateShown {
		p.keepRateShown = k
		dom.SetInnerText(p.id+"-keep-is", k)
	}
	if l := fmt.Sprint(layers); l != p.layersShown {
		p.layersShown = l
		dom.SetInnerText(p.id+"-layers-is", l)
	}
}

func (p *playground) chosen() record.Cell {
	c := paper.Cell(p.data[p.dataMenu.Value()], hyper.Models()[p.model.Value()],
		datasets.Settings()[p.setting.Value()], report.Sizes()[p.size.Value()])
	if keepRate := p.keepRate.Value(); keepRate < 10 {
		c = paper.Masked(c, float64(keepRate)/10)
	}
	return c.With(func(s *hyper.Parameters) { s.Layers = p.layers.Value() })
}

func (p *playground) begin(ctx context.Context) {
	c := p.chosen()
	if !slices.ContainsFunc(p.cells, func(other record.Cell) bool { return other.Key() == c.Key() }) {
		p.cells = append(p.cells, c)
	}
	name := fmt.Sprintf("%s on %s %d %%, %s", Label(c), c.Data, c.TrainPercent, c.Setting)
	trials := len(Live().Trials(c)) + 1
	ctx, p.cancel = context.WithCancel(ctx)
	p.running = true
	p.progress.Say("Compiling " + name + " …")
	go func() {
		_, err := trainInto(ctx, p.progress, func(record.Cell) string { return name },
			worker.Training{Cells: []record.Cell{c}, Trials: trials})
		p.finished <- err
	}()
}

func (p *playground) end(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		p.progress.Say("Stopped; this trial is not kept.")
	case err != nil:
		p.progress.Say("It could not be trained: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	default:
		p.progress.Say("Done. Train again for another trial, or choose something else to compare with.")
	}
	t := compareTable(Live(), Recorded(), p.cells...)
	t.ID = p.tableID
	gonbui.UpdateHTML(p.tableID, Must1(t.Render(plots.FormatHTML)))
}
