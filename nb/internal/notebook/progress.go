package notebook

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/plots"
)

// Progress shows training live: a progress bar with the time left, and the losses so far, as one output that is updated
// in place and stays as a picture. Outside a notebook only [Progress.End] prints. Methods are safe for concurrent use.
type Progress struct {
	// Order lists curves in drawing order; others follow.
	Order []string
	// Kept: finished trials are in a store.
	Kept bool
	// Quiet omits the losses.
	Quiet bool

	id    string
	title string
	total int // trials; 0: open-ended

	mutex  sync.Mutex
	begin  time.Time
	shown  time.Time
	done   int
	left   time.Duration
	curves []*lossCurve
	status string
	heard  time.Time // of the last epoch or trial
	on     string    // backend
}

type lossCurve struct {
	name              string
	seed              uint64
	train, validation []float64
}

const refresh = 400 * time.Millisecond

// NewProgress returns the progress of a number of trials; 0: open-ended. It shows nothing yet.
func NewProgress(title string, trials int) *Progress {
	return &Progress{id: "nodemask-" + gonbui.UniqueId(), title: title, total: trials, begin: time.Now()}
}

// Epoch adds an epoch to the losses of the trial of name and seed.
func (p *Progress) Epoch(name string, seed uint64, trainLoss, validationLoss float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var curve *lossCurve
	for _, c := range p.curves {
		if c.name == name && c.seed == seed {
			curve = c
		}
	}
	if curve == nil {
		curve = &lossCurve{name: name, seed: seed}
		p.curves = append(p.curves, curve)
	}
	curve.train, curve.validation = append(curve.train, trainLoss), append(curve.validation, validationLoss)
	p.status, p.heard = fmt.Sprintf("%s, seed %d, epoch %d", name, seed, len(curve.train)), time.Now()
	p.update(false)
}

// RunsOn sets the line that names the backend.
func (p *Progress) RunsOn(backend string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.on = backend
}

// Trials sets the number of finished trials, and the time left; 0: unknown.
func (p *Progress) Trials(done int, left time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done, p.left, p.heard = done, left, time.Now()
	p.update(true)
}

// Tick shows each second that a model is compiling, until an epoch arrives or the returned function is called.
func (p *Progress) Tick() (stop func()) {
	done := make(chan struct{})
	p.heard = time.Now()
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
				p.mutex.Lock()
				if waits := time.Since(p.heard); waits > time.Second {
					p.status = fmt.Sprintf("compiling %s … %.0f s", p.next(), waits.Seconds())
					if waits > p.left {
						p.left = 0 // the estimate ignored compiling
					}
					p.update(true)
				}
				p.mutex.Unlock()
			}
		}
	}()
	return func() { close(done) }
}

func (p *Progress) next() string {
	for _, name := range p.Order {
		if !slices.ContainsFunc(p.curves, func(c *lossCurve) bool { return c.name == name }) {
			return name
		}
	}
	return "the next model"
}

// Say shows a line of text above the losses.
func (p *Progress) Say(status string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.status = status
	p.update(true)
}

func (p *Progress) update(force bool) {
	if !gonbui.IsNotebook || !force && time.Since(p.shown) < refresh {
		return
	}
	p.shown = time.Now()
	left := ""
	if p.left > 0 {
		left = fmt.Sprintf(", about %v left", p.left)
	}
	var b strings.Builder
	if p.total == 0 {
		fmt.Fprintf(&b, `<p role="status">%s</p>`, html.EscapeString(p.status))
	} else {
		fmt.Fprintf(&b, `<p><label>%s: %d of %d trials%s <progress max="%d" value="%d"></progress></label><br>`+
			`<small>%s</small></p>`,
			html.EscapeString(p.title), p.done, p.total, left, p.total, p.done, html.EscapeString(p.status))
	}
	if p.on != "" {
		fmt.Fprintf(&b, `<p><small>Backend: %s.</small></p>`, html.EscapeString(p.on))
	}
	gonbui.UpdateHTML(p.id, b.String()+p.picture())
}

func (p *Progress) picture() string {
	c := p.chart()
	if len(c.Series) == 0 || p.Quiet {
		return ""
	}
	svg, err := c.SVG()
	if err != nil {
		return ""
	}
	return Image(svg, c.Title)
}

// Remember adds the losses of an earlier cell's trial, unless one of the same name ran here.
func (p *Progress) Remember(name string, seed uint64, train, validation []float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !slices.ContainsFunc(p.curves, func(c *lossCurve) bool { return c.name == name }) {
		p.curves = append(p.curves, &lossCurve{name: name, seed: seed, train: train, validation: validation})
	}
}

func (p *Progress) chart() plots.Chart {
	c := plots.Chart{ID: "losses", Title: "Losses of " + p.title, XLabel: "epoch", YLabel: "cross-entropy", Height: 320}
	last := map[string]*lossCurve{}
	var names []string
	for _, curve := range p.curves {
		if last[curve.name] == nil {
			names = append(names, curve.name)
		}
		last[curve.name] = curve
	}
	place := func(name string) int {
		if i := slices.Index(p.Order, name); i >= 0 {
			return i
		}
		return len(p.Order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	for _, name := range names {
		curve := last[name]
		prefix := ""
		if len(names) > 1 || p.total == 0 {
			prefix = name + ", "
		}
		for _, line := range []struct {
			what string
			y    []float64
		}{{"train", curve.train}, {"validation", curve.validation}} {
			s := plots.Series{Name: prefix + line.what, HideMarkers: true}
			if n := len(c.Series); n > 0 && c.Series[n-1].Name == prefix+"train" {
				s.Of = c.Series[n-1].Name
			}
			for i, y := range line.y {
				if !math.IsNaN(y) && !math.IsInf(y, 0) {
					s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, y)
				}
			}
			if len(s.X) > 0 {
				c.Series = append(c.Series, s)
			}
		}
	}
	if len(p.curves) > 0 && p.total > 0 {
		c.Title += fmt.Sprintf(", seed %d", p.curves[len(p.curves)-1].seed)
	}
	return c
}

// End replaces the progress bar with a line on how many trials ran, or that the stop button was pressed.
func (p *Progress) End(ran int, stopped bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	summary := summaryOf(ran, p.total, stopped, time.Since(p.begin), p.on)
	if stopped && p.Kept {
		summary += " What is finished is kept: run the cell again to go on."
	}
	if !gonbui.IsNotebook {
		fmt.Println(summary)
		return
	}
	gonbui.UpdateHTML(p.id, "<p>"+html.EscapeString(summary)+"</p>"+p.picture())
	gonbui.Sync()
}

func ifOne(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

func summaryOf(ran, of int, stopped bool, took time.Duration, on string) string {
	if stopped {
		return fmt.Sprintf("Stopped: %d %s finished.", ran, ifOne(ran, "trial was", "trials were"))
	}
	if ran == 0 {
		return fmt.Sprintf("Showing %d saved %s: none was left to run.", of, ifOne(of, "trial", "trials"))
	}
	text := fmt.Sprintf("%d of %d trials run in %.1f s, compiling included.", ran, of, took.Seconds())
	if on != "" {
		text += " Backend: " + on + "."
	}
	return text
}
