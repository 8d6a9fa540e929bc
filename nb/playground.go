package nb

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper"
	"nodemask/plots"
	"nodemask/record"
	"nodemask/record/measure"
)

// frontEndPatience is how long to wait for the first word of a browser before taking it that there is none.
const frontEndPatience = 15 * time.Second

// Playground shows sliders and menus for what can be chosen, and trains on demand: the losses grow while it trains, and
// runs are compared side by side. It goes on until Close or the notebook's stop button is pressed.
//
// gonb's widgets reach their cell by a connection of their own, which there is in JupyterLab but neither in a notebook that
// is run without a browser nor behind a JupyterHub. There, it says so and trains one model with and without masking.
func Playground() {
	if !gonbui.IsNotebook || os.Getenv("NODEMASK_NOTEBOOK_RUN") != "" {
		staticPlayground("This notebook is run without a browser, so there are no sliders.")
		return
	}
	ctx, stop := interruptible()
	defer stop()
	p := newPlayground()
	ready := make(chan struct{})
	go func() {
		p.build()
		close(ready)
	}()
	select {
	case <-ready:
		p.serve(ctx)
	case <-time.After(frontEndPatience):
		staticPlayground("The sliders cannot reach this notebook, as behind a JupyterHub: open it in JupyterLab on this computer ('make lab').")
	case <-ctx.Done():
	}
}

// staticPlayground does once what the playground does on demand.
func staticPlayground(why string) {
	Markdown("*" + why + " This is one run with and without node masking instead.*")
	plain := record.NewCell("cora", "gin", datasets.Transductive, 10)
	Train(1, plain, plain.Masked(paper.MaskedKeepRate))
	Compare(plain, plain.Masked(paper.MaskedKeepRate))
}

// menus of the playground.
var (
	playgroundModels   = hyper.Models()
	playgroundSettings = []datasets.Setting{datasets.Inductive, datasets.Transductive}
	playgroundSizes    = paper.Sizes()
)

// playground is the form, and the runs so far.
type playground struct {
	id                         string
	data                       []string // that can be had here
	dataMenu, model, setting   *widgets.SelectBuilder
	size                       *widgets.SelectBuilder
	keepRate, layers           *widgets.SliderBuilder
	train, stop, close         *widgets.ButtonBuilder
	store                      *record.Store
	live                       *live
	cells                      []record.Cell // by when they were first trained
	tableID                    string
	running                    bool
	cancel                     context.CancelFunc
	finished                   chan error
	keepRateShown, layersShown string
}

func newPlayground() *playground {
	p := &playground{id: "nm" + gonbui.UniqueId(), store: record.OpenStore(Must1(liveFolder())), tableID: "nodemask-table-" + gonbui.UniqueId(), finished: make(chan error, 1)}
	for _, name := range []string{"cora", "citeseer", "pubmed"} {
		if _, err := datasets.Open(context.Background(), name, datasets.OpenOptions{}); err == nil {
			p.data = append(p.data, name)
		}
	}
	return p
}

// build shows the form and waits until the browser has answered for each of its parts.
func (p *playground) build() {
	comms.Start()
	row := func(name, label string) string {
		return fmt.Sprintf(`<div style="display:flex;gap:.6em;align-items:center;margin:.3em 0"><label for="%s-%s" style="min-width:11em">%s</label><span id="%[1]s-%[2]s-at"></span><output id="%[1]s-%[2]s-is"></output></div>`, p.id, name, html.EscapeString(label))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" role="group" aria-label="Playground">`, p.id)
	for _, r := range [][2]string{{"data", "Data"}, {"model", "Model"}, {"setting", "Setting"}, {"size", "Nodes to train on"}, {"keep", "Keep rate p"}, {"layers", "Layers"}} {
		b.WriteString(row(r[0], r[1]))
	}
	fmt.Fprintf(&b, `<div style="display:flex;gap:.6em;margin:.6em 0"><span id="%s-train-at"></span><span id="%[1]s-stop-at"></span><span id="%[1]s-close-at"></span></div></div>`, p.id)
	gonbui.DisplayHTML(b.String())
	gonbui.Sync()
	at := func(name string) string { return p.id + "-" + name + "-at" }
	id := func(name string) string { return p.id + "-" + name }
	var settings, sizes, models []string
	for _, s := range playgroundSettings {
		settings = append(settings, string(s))
	}
	for _, s := range playgroundSizes {
		sizes = append(sizes, fmt.Sprintf("%d %%", s))
	}
	for _, m := range playgroundModels {
		models = append(models, hyper.Title(m))
	}
	p.dataMenu = widgets.Select(p.data).WithHtmlId(id("data")).AppendTo(at("data")).Done()
	p.model = widgets.Select(models).WithHtmlId(id("model")).AppendTo(at("model")).Done()
	p.setting = widgets.Select(settings).WithHtmlId(id("setting")).AppendTo(at("setting")).SetDefault(1).Done()
	p.size = widgets.Select(sizes).WithHtmlId(id("size")).AppendTo(at("size")).Done()
	p.keepRate = widgets.Slider(1, 10, 5).WithHtmlId(id("keep")).AppendTo(at("keep")).Done()
	p.layers = widgets.Slider(1, 8, 2).WithHtmlId(id("layers")).AppendTo(at("layers")).Done()
	p.train = widgets.Button("Train").WithHtmlId(id("train")).AppendTo(at("train")).Done()
	p.stop = widgets.Button("Stop").WithHtmlId(id("stop")).AppendTo(at("stop")).Done()
	p.close = widgets.Button("Close").WithHtmlId(id("close")).AppendTo(at("close")).Done()
}

// serve answers the form until it is closed or the cell stopped.
func (p *playground) serve(ctx context.Context) {
	keepRate, layers := p.keepRate.Listen().LatestOnly(), p.layers.Listen().LatestOnly()
	train, stop, done := p.train.Listen().LatestOnly(), p.stop.Listen().LatestOnly(), p.close.Listen().LatestOnly()
	p.live = newLive("the runs so far", 0)
	p.show("Choose, then press Train.")
	p.showValues(p.keepRate.Value(), p.layers.Value())
	for {
		select {
		case v := <-keepRate.C:
			p.showValues(v, p.layers.Value())
		case v := <-layers.C:
			p.showValues(p.keepRate.Value(), v)
		case <-train.C:
			if p.running {
				p.show("It is training: press Stop first.")
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

// leave waits for what is being trained to end.
func (p *playground) leave(why string) {
	if p.running {
		p.cancel()
		<-p.finished
	}
	p.show(why + " Run the cell again for another round; trials that were finished are kept.")
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

// chosen is the cell that the form describes.
func (p *playground) chosen() record.Cell {
	c := record.NewCell(p.data[p.dataMenu.Value()], playgroundModels[p.model.Value()], playgroundSettings[p.setting.Value()], playgroundSizes[p.size.Value()])
	if keepRate := p.keepRate.Value(); keepRate < 10 {
		c = c.Masked(hyper.KeepRate(keepRate) / 10)
	}
	return c.With(func(s *hyper.Parameters) { s.Layers = p.layers.Value() })
}

// begin trains one more trial of what is chosen.
func (p *playground) begin(ctx context.Context) {
	c := p.chosen()
	known := false
	for _, other := range p.cells {
		known = known || other.Key() == c.Key()
	}
	if !known {
		p.cells = append(p.cells, c)
	}
	name := fmt.Sprintf("%s on %s %d %%, %s", Label(c), c.Data, c.TrainPercent, c.Setting)
	trials := len(Live().Trials(c)) + 1
	ctx, p.cancel = context.WithCancel(ctx)
	p.running = true
	p.show("Compiling " + name + " …")
	go func() {
		p.finished <- measure.Missing(ctx, Backend(), p.store, []record.Cell{c}, measure.Options{Trials: trials,
			Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
				return datasets.Open(ctx, data, datasets.OpenOptions{})
			},
			Epoch: func(_ record.Cell, seed uint64, epoch int, e train.Epoch) {
				p.live.epoch(name, seed, e)
			}})
	}()
}

func (p *playground) end(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		p.show("Stopped; this trial is not kept.")
	case err != nil:
		p.show("It could not be trained: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	default:
		p.show("Done. Train again for another trial, or choose something else to compare with.")
	}
	t := CompareTable(Live(), Recorded(), p.cells...)
	t.ID = p.tableID
	gonbui.UpdateHTML(p.tableID, Must1(t.Render(plots.FormatHTML)))
}

// show says where things stand, above the losses.
func (p *playground) show(status string) {
	p.live.mutex.Lock()
	defer p.live.mutex.Unlock()
	p.live.status = status
	p.live.update(true)
}
