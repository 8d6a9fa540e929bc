package nb

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/nmgnn/train"
	"nodemask/plots"
	"nodemask/record"
)

// live shows training as it happens: a progress bar with the time left, and the losses of the trials so far. It is one
// output of the cell, which changes; when the work is done it stays as a picture.
type live struct {
	id    string
	title string
	total int // trials

	mutex  sync.Mutex
	begin  time.Time
	shown  time.Time
	done   int
	before int // of done: there before
	curves []*lossCurve
	status string
}

// lossCurve is one trial's losses.
type lossCurve struct {
	name              string
	seed              uint64
	train, validation []float64
}

// refresh is how often the output changes at most.
const refresh = 400 * time.Millisecond

func newLive(title string, total int) *live {
	return &live{id: "nodemask-" + gonbui.UniqueId(), title: title, total: total, begin: time.Now()}
}

// epoch adds an epoch of a trial.
func (l *live) epoch(name string, seed uint64, e train.Epoch) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var curve *lossCurve
	for _, c := range l.curves {
		if c.name == name && c.seed == seed {
			curve = c
		}
	}
	if curve == nil {
		curve = &lossCurve{name: name, seed: seed}
		l.curves = append(l.curves, curve)
	}
	curve.train, curve.validation = append(curve.train, e.TrainLoss), append(curve.validation, e.ValidationLoss)
	l.status = fmt.Sprintf("%s, seed %d, epoch %d", name, seed, len(curve.train))
	l.update(false)
}

// trials says how many are done, and how many of those were there before.
func (l *live) trials(done, before int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.done, l.before = done, before
	l.update(true)
}

// left is the time that what is not done will take, judged by what is; 0: unknown.
func (l *live) left() time.Duration {
	ran := l.done - l.before
	if ran == 0 {
		return 0
	}
	return (time.Since(l.begin) / time.Duration(ran) * time.Duration(l.total-l.done)).Round(time.Second)
}

func (l *live) update(force bool) {
	if !gonbui.IsNotebook || !force && time.Since(l.shown) < refresh {
		return
	}
	l.shown = time.Now()
	left := ""
	if d := l.left(); d > 0 {
		left = fmt.Sprintf(", about %v left", d)
	}
	var b strings.Builder
	if l.total == 0 { // there is no end to count down to
		fmt.Fprintf(&b, `<p role="status">%s</p>`, html.EscapeString(l.status))
	} else {
		fmt.Fprintf(&b, `<p><label>%s: %d of %d trials%s <progress max="%d" value="%d"></progress></label><br><small>%s</small></p>`,
			html.EscapeString(l.title), l.done, l.total, left, l.total, l.done, html.EscapeString(l.status))
	}
	if c := l.chart(); len(c.Series) > 0 {
		if svg, err := c.SVG(); err == nil {
			b.WriteString(image(svg, c.Title))
		}
	}
	gonbui.UpdateHTML(l.id, b.String())
}

// remember adds the losses of a trial that an earlier cell ran, unless one of its name was run here.
func (l *live) remember(name string, r record.Record) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !slices.ContainsFunc(l.curves, func(c *lossCurve) bool { return c.name == name }) {
		l.curves = append(l.curves, &lossCurve{name: name, seed: r.Seed, train: r.TrainLosses, validation: r.ValidationLosses})
	}
}

// chart has the losses of the last trial of each name.
func (l *live) chart() plots.Chart {
	c := plots.Chart{ID: "losses", Title: "Losses of " + l.title, XLabel: "epoch", YLabel: "cross-entropy", Height: 320}
	last := map[string]*lossCurve{}
	var names []string
	for _, curve := range l.curves {
		if last[curve.name] == nil {
			names = append(names, curve.name)
		}
		last[curve.name] = curve
	}
	for _, name := range names {
		curve := last[name]
		prefix := ""
		if len(names) > 1 || l.total == 0 {
			prefix = name + ", "
		}
		for _, line := range []struct {
			what string
			y    []float64
		}{{"train", curve.train}, {"validation", curve.validation}} {
			s := plots.Series{Name: prefix + line.what, HideMarkers: true}
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
	if len(l.curves) > 0 && l.total > 0 {
		c.Title += fmt.Sprintf(", seed %d", l.curves[len(l.curves)-1].seed)
	}
	return c
}

// end replaces the progress bar with what was done, beside the last losses.
func (l *live) end(summary string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	c := l.chart()
	if !gonbui.IsNotebook {
		fmt.Println(summary)
		return
	}
	text := "<p>" + html.EscapeString(summary) + "</p>"
	if len(c.Series) > 0 {
		text += image(Must1(c.SVG()), c.Title)
	}
	gonbui.UpdateHTML(l.id, text)
	gonbui.Sync()
}
