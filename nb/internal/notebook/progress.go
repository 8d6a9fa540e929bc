package notebook

import (
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/nmgnn/hyper"
	"nodemask/plots"
)

// Progress shows a progress bar with the time left, and a chart of losses, which stays after training. Outside a
// notebook only [Progress.End] prints. Methods are safe for concurrent use.
type Progress struct {
	// Order lists the names of curves in drawing order; other curves follow.
	Order []string
	// Kept means that finished trials are stored.
	Kept  bool
	Quiet bool

	id    string
	title string
	total int

	mutex  sync.Mutex
	begin  time.Time
	shown  time.Time
	done   int
	end    time.Time // estimated end of training; zero if unknown
	curves []*lossCurve
	status string
	heard  time.Time
	idle   bool // no epoch since the last trial ended
	on     string
	// compiled is the total time that models took before their first epoch, mostly for compiling.
	compiled time.Duration
	programs int
}

type lossCurve struct {
	name              string
	seed              uint64
	train, validation []float64
	kept              string // describes the epoch whose weights were kept
	best              int
}

const refresh = 400 * time.Millisecond

// NewProgress returns a display for this many trials. If trials is 0, it has text, but no bar.
func NewProgress(title string, trials int) *Progress {
	now := time.Now()
	return &Progress{id: "nodemask-" + gonbui.UniqueId(), title: title, total: trials, begin: now, heard: now, idle: true}
}

// Epoch adds an epoch's losses to a trial.
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
		if p.idle && !p.started(name) {
			p.compiled, p.programs = p.compiled+time.Since(p.heard), p.programs+1
		}
		curve = &lossCurve{name: name, seed: seed}
		p.curves = append(p.curves, curve)
	}
	curve.train, curve.validation = append(curve.train, trainLoss), append(curve.validation, validationLoss)
	p.status = fmt.Sprintf("%s, seed %d, epoch %d", name, seed, len(curve.train))
	p.heard, p.idle = time.Now(), false
	p.update(false)
}

// RunsOn sets the backend's description, which the output shows.
func (p *Progress) RunsOn(backend string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.on = backend
	p.update(true)
}

// Trials sets the number of finished trials, and how many of those were finished by earlier runs.
func (p *Progress) Trials(done, before int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done, p.heard, p.idle = done, time.Now(), true
	if ran := time.Duration(done - before); ran > 0 {
		left := (time.Since(p.begin) - p.compiled) / ran * time.Duration(p.total-done)
		for _, name := range p.Order {
			if !p.started(name) {
				left += p.compiled / time.Duration(max(p.programs, 1))
			}
		}
		p.end = time.Now().Add(left)
	}
	p.update(true)
}

func (p *Progress) started(name string) bool {
	return slices.ContainsFunc(p.curves, func(c *lossCurve) bool { return c.name == name })
}

// Tick updates the output each second while a model compiles, until an epoch arrives or stop is called.
func (p *Progress) Tick() (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
				p.mutex.Lock()
				if waits := time.Since(p.heard); p.idle && waits > time.Second && p.done < p.total {
					p.status = fmt.Sprintf("compiling %s … %.0f s", p.next(), waits.Seconds())
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
		if !p.started(name) {
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
	if seconds := time.Until(p.end).Round(time.Second); seconds > 0 {
		left = fmt.Sprintf(", about %v left", seconds)
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
	places, err := c.Places()
	if err != nil {
		return ""
	}
	return Chart(svg, c.Title, places)
}

// Finished replaces the losses shown for this name with a finished trial's. A circle marks the epoch whose weights were
// kept; best is this epoch's number, from 1. macroF1 is in percent.
func (p *Progress) Finished(name string, seed uint64, train, validation []float64, best int, macroF1 float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.curves = slices.DeleteFunc(p.curves, func(c *lossCurve) bool { return c.name == name })
	p.curves = append(p.curves, &lossCurve{name: name, seed: seed, train: train, validation: validation, best: best,
		kept: fmt.Sprintf("the epoch kept of seed %d, macro F1 on test nodes %.2f %%", seed, macroF1)})
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
				if math.IsNaN(y) || math.IsInf(y, 0) {
					continue
				}
				s.X, s.Y, s.Notes = append(s.X, float64(i+1)), append(s.Y, y), append(s.Notes, "")
				if i+1 == curve.best && line.what == "validation" {
					s.Ring, s.Notes[len(s.Notes)-1] = len(s.X), curve.kept
				}
			}
			if len(s.X) > 0 {
				c.Series = append(c.Series, s)
			}
		}
	}
	seeds := map[uint64]bool{}
	for _, curve := range last {
		seeds[curve.seed] = true
	}
	if p.total > 0 && len(seeds) > 0 {
		c.Title += ", seed " + strings.ReplaceAll(strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(seeds))), "[]"), " ", ", ")
	}
	return c
}

// End replaces the progress bar with the number of trials run.
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

func summaryOf(ran, of int, stopped bool, took time.Duration, on string) string {
	if stopped {
		return fmt.Sprintf("Stopped after %d of %d trials.", ran, of)
	}
	if ran == 0 {
		return fmt.Sprintf("All trials (%d) were run before.", of)
	}
	text := fmt.Sprintf("%d of %d trials run in %.1f s, compiling included.", ran, of, took.Seconds())
	if on != "" {
		text += " Backend: " + on + "."
	}
	return text
}

// Collapsed describes a trial that learnt nothing. f1 is its macro F1 on validation nodes; constant is the macro F1 of
// predicting one class for every node. Both are in percent.
func Collapsed(name string, seed uint64, f1, constant float64, p hyper.Parameters) string {
	var try []string
	if p.KeepRate.Active() {
		try = append(try, "`WithMasking(1)`, or a keep rate nearer to 1")
	}
	if hyper.TraitsOf(p.Model).MLP && p.Norm == "" {
		try = append(try, "`Norm: hyper.NormBoth`")
	}
	try = append(try, fmt.Sprintf("`NormalizeFeatures: %v`", !p.NormalizeFeatures),
		fmt.Sprintf("a `LearningRate` below %v", p.LearningRate))
	return fmt.Sprintf("**%s, seed %d collapsed**: macro F1 on validation nodes is %.1f %%, and one class for every node "+
		"has %.1f %%. Try %s.", name, seed, f1, constant, strings.Join(try, ", or "))
}
