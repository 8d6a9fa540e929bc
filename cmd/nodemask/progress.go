package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"nodemask/nmgnn/train"

	"golang.org/x/term"
)

// progressLine is one line on a terminal that follows the trials; it is silent anywhere else.
type progressLine struct {
	w            io.Writer
	live         bool
	width        func() int
	now          func() time.Time
	start, shown time.Time
	end          time.Time // estimated; zero: unknown
	trials, done int
	text         string
}

func newProgressLine(w io.Writer, x train.Experiment, trials int) *progressLine {
	p := &progressLine{w: w, trials: trials, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.live = true
		p.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 20 {
				return 80
			}
			return width
		}
	}
	p.start = p.now()
	p.show(fmt.Sprintf("%s %s: compiling …", x.Graph.Name, x.Setting))
	return p
}

func (p *progressLine) epoch(e train.Progress) {
	if !p.live || p.now().Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.show(fmt.Sprintf("trial %d/%d · epoch %d · loss %.3f train %.3f validation · validation F1 %.1f%s",
		e.Trial+1, p.trials, e.Epoch, e.Last.TrainLoss, e.Last.ValidationLoss, 100*e.Last.ValidationF1, p.left()))
}

// left counts down how long the rest will take, once a trial has told.
func (p *progressLine) left() string {
	if p.end.IsZero() {
		return ""
	}
	return fmt.Sprintf(" · %s left", max(p.end.Sub(p.now()), 0).Round(time.Second))
}

func (p *progressLine) trial() {
	p.done++
	p.end = p.now().Add(train.TimeLeft(p.now().Sub(p.start), p.done, p.trials-p.done))
}

func (p *progressLine) show(text string) {
	if !p.live {
		return
	}
	runes := []rune(text)
	if width := p.width(); len(runes) >= width {
		runes = runes[:width-1]
	}
	p.text = string(runes)
	p.shown = p.now()
	fmt.Fprintf(p.w, "\r\x1b[2K%s", p.text)
}

// clear wipes the line, so that something else can be printed.
func (p *progressLine) clear() {
	if p.live && p.text != "" {
		fmt.Fprint(p.w, "\r\x1b[2K")
		p.text = ""
	}
}
