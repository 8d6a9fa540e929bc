package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"nodemask/datasets"
	"nodemask/internal/svg"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/plots"
	"nodemask/stats"
)

// progressLine is one line on a terminal that follows the trials; it is silent anywhere else.
type progressLine struct {
	w            io.Writer
	live         bool
	start, shown time.Time
	end          time.Time // estimated; zero: unknown
	trials, done int
	text         string
}

func newProgressLine(w io.Writer, x train.Experiment, trials int) *progressLine {
	f, ok := w.(*os.File)
	p := &progressLine{w: w, live: ok && term.IsTerminal(int(f.Fd())), trials: trials, start: time.Now()}
	p.show(fmt.Sprintf("%s %s: compiling …", x.Graph.Name, x.Setting))
	return p
}

func (p *progressLine) epoch(e train.Progress) {
	if !p.live || time.Since(p.shown) < 100*time.Millisecond {
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
	return fmt.Sprintf(" · %s left", max(time.Until(p.end), 0).Round(time.Second))
}

func (p *progressLine) trial() {
	p.done++
	p.end = time.Now().Add(measure.TimeLeft(time.Since(p.start), p.done, p.trials-p.done))
}

func (p *progressLine) show(text string) {
	if !p.live {
		return
	}
	runes := []rune(svg.Plain(text)) // names of folders may have anything
	if width := columns(p.w, 80); len(runes) >= width {
		runes = runes[:width-1]
	}
	p.text, p.shown = string(runes), time.Now()
	fmt.Fprintf(p.w, "\r\x1b[2K%s", p.text)
}

// columns returns how many characters a line of w may have: the terminal's width, or those of no terminal.
func columns(w io.Writer, otherwise int) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width
		}
	}
	return otherwise
}

// clear wipes the line, so that something else can be printed.
func (p *progressLine) clear() {
	if p.live && p.text != "" {
		fmt.Fprint(p.w, "\r\x1b[2K")
		p.text = ""
	}
}

// printTable writes a table for the terminal, or as Markdown.
func printTable(w io.Writer, t plots.Table, markdown bool) error {
	format := plots.FormatText
	if markdown {
		format = plots.FormatMarkdown
	}
	text, err := t.Render(format)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// plainJSON writes JSON, a value at a time, for terminals too: control characters, and controls of the direction of
// writing, as \u and four digits, which mean the same.
type plainJSON struct{ w io.Writer }

func (p plainJSON) Write(value []byte) (int, error) {
	var b []byte
	for _, r := range string(value) {
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			b = fmt.Appendf(b, "\\u%04x", r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	if _, err := p.w.Write(b); err != nil {
		return 0, err
	}
	return len(value), nil
}

// trialTable lists the trials, and their mean and standard deviation.
func trialTable(results []*train.Result) plots.Table {
	type column struct {
		name  string
		score func(*train.Result) float64
	}
	columns := []column{
		{"macro F1 %", func(r *train.Result) float64 { return r.Test.MacroF1 }},
		{"micro F1 %", func(r *train.Result) float64 { return r.Test.MicroF1 }},
		{"accuracy %", func(r *train.Result) float64 { return r.Test.Accuracy }},
	}
	if results[0].Cached != nil {
		columns = slices.Insert(columns, 1,
			column{"cached: macro F1 %", func(r *train.Result) float64 { return r.Cached.MacroF1 }},
			column{"cached, apart: macro F1 %", func(r *train.Result) float64 { return r.Apart.MacroF1 }})
	}
	t := plots.Table{ID: "trials", Header: []string{"seed"}, Footer: plots.Fields("mean ± std")}
	for _, c := range columns {
		t.Header = append(t.Header, c.name)
		t.Footer = append(t.Footer, plots.Field{Text: scores(results, c.score).Text(2)})
	}
	t.Header, t.Footer = append(t.Header, "best epoch", "epochs", "seconds"), append(t.Footer, plots.Field{},
		plots.Field{}, plots.Field{})
	for _, r := range results {
		row := plots.Fields(fmt.Sprint(r.Seed))
		for _, c := range columns {
			row = append(row, plots.Field{Text: fmt.Sprintf("%.2f", 100*c.score(r))})
		}
		t.Rows = append(t.Rows, append(row, plots.Fields(fmt.Sprint(r.BestEpoch), fmt.Sprint(len(r.History)),
			fmt.Sprintf("%.1f", r.Seconds))...))
	}
	return t
}

// sizes says how many nodes a split has in each set.
func sizes(s *datasets.Split) string {
	say := func(nodes []int32, one, many string) string {
		if len(nodes) == 1 {
			return "1 " + one
		}
		return fmt.Sprint(len(nodes)) + " " + many
	}
	return say(s.Train, "node trains", "nodes train") + ", " + say(s.Validation, "validates", "validate") + " and " +
		say(s.Test, "tests", "test")
}

// fewestTested is how many nodes have to be tested for scores to say something: one of ten is 10 points of accuracy.
const fewestTested = 10

// thinSplit says what makes the scores of a split say little: few nodes to test, and classes that no node trains,
// though some have a label of them.
func thinSplit(x train.Experiment, s *datasets.Split) (notes []string) {
	fewer, more := "expected a lower --validation or --train", "expected a higher --train"
	if x.OwnSplit {
		fewer, more = "expected --split stratified", "expected --split stratified"
	}
	if n := len(s.Test); n < fewestTested {
		say := fmt.Sprintf("%d nodes test", n)
		if n == 1 {
			say = "1 node tests"
		}
		notes = append(notes, fmt.Sprintf("%s: scores on fewer than %d say little: %s", say, fewestTested, fewer))
	}
	trained := make([]bool, x.Graph.NumClasses())
	for _, v := range s.Train {
		trained[x.Graph.Labels[v]] = true
	}
	var without []string
	for _, v := range slices.Concat(s.Validation, s.Test) {
		if c := x.Graph.Labels[v]; !trained[c] {
			trained[c] = true // named once
			without = append(without, strconv.Quote(x.Graph.Classes[c]))
		}
	}
	switch n := len(without); {
	case n == 1:
		notes = append(notes, fmt.Sprintf("no node of class %s trains: it cannot be learnt: %s", without[0], more))
	case n > 1:
		notes = append(notes, fmt.Sprintf("no node of %d classes trains, among them %s: they cannot be learnt: %s", n,
			strings.Join(without[:2], " and "), more))
	}
	return notes
}

// fewestValidated is how many nodes have to validate for a trial to be named as collapsed or as stopped early: of
// fewer, one node that is taken otherwise moves the score by more than 5 points, and two by more than lateGain.
const fewestValidated = 20

// tells reports whether the scores on validation of a trial mean anything for one trial alone.
func tells(r *train.Result) bool {
	nodes := 0
	for _, row := range r.Validation.Confusion {
		for _, n := range row {
			nodes += n
		}
	}
	return nodes >= fewestValidated
}

// collapsed names the trials that learnt nothing, and what to try; "" if there is none. What was better in a later
// epoch did learn something: [stoppedEarly] names it.
func collapsed(x train.Experiment, results []*train.Result) string {
	var seeds, try []string
	best, constant := 0.0, 0.0
	for _, r := range results {
		if _, late := laterF1(x, r); tells(r) && r.Validation.Collapsed() && !late {
			seeds = append(seeds, fmt.Sprint(r.Seed))
			constant, _ = r.Validation.Constant()
			best = max(best, r.Validation.MacroF1)
		}
	}
	if len(seeds) == 0 {
		return ""
	}
	p := x.Parameters
	if hyper.TraitsOf(p.Model).MLP && p.Norm == "" {
		try = append(try, "--norm both")
	}
	if p.NormalizeFeatures {
		try = append(try, "--raw-features")
	} else {
		try = append(try, "features that are divided by their sums (without --raw-features)")
	}
	try = append(try, fmt.Sprintf("a --learning-rate below %v", p.LearningRate))
	return fmt.Sprintf("%s collapsed: macro F1 on validation is at most %.1f %%, and one class for every node has %.1f %%: "+
		"try %s", seedsInWords(seeds), 100*best, 100*constant, strings.Join(try, ", or "))
}

// lateGain is by how much validation macro F1 has to rise after the epoch that early stopping keeps for a trial to be
// named: more than scores on the 27 validation nodes of Cora's largest train set wobble.
const lateGain = 0.1

// laterF1 is the best validation macro F1 after the epoch that early stopping kept, and whether it is far better than
// there. What stops on F1 kept the best.
func laterF1(x train.Experiment, r *train.Result) (best float64, late bool) {
	for _, epoch := range r.History[min(r.BestEpoch, len(r.History)):] {
		best = max(best, epoch.ValidationF1)
	}
	return best, x.Parameters.StopOn != hyper.StopOnF1 && best >= r.Validation.MacroF1+lateGain
}

// stoppedEarly names the trials whose validation macro F1 was far better in a later epoch than in the one that early
// stopping kept, as where the loss is lowest before the model predicts well; "" if there is none.
func stoppedEarly(x train.Experiment, results []*train.Result) string {
	var seeds, epochs []string
	kept, later := 0.0, 0.0 // the best of each
	for _, r := range results {
		if best, late := laterF1(x, r); tells(r) && late {
			seeds, epochs = append(seeds, fmt.Sprint(r.Seed)), append(epochs, fmt.Sprint(r.BestEpoch))
			kept, later = max(kept, r.Validation.MacroF1), max(later, best)
		}
	}
	if len(seeds) == 0 {
		return ""
	}
	which := "epoch"
	if len(epochs) > 1 {
		which = "epochs"
	}
	return fmt.Sprintf("%s kept %s %s, with a macro F1 on validation of at most %.1f %%, which later came to %.1f %%: "+
		"try --stop-on f1", seedsInWords(seeds), which, strings.Join(epochs, ", "), 100*kept, 100*later)
}

func seedsInWords(seeds []string) string {
	if len(seeds) == 1 {
		return "seed " + seeds[0]
	}
	return "seeds " + strings.Join(seeds, ", ")
}

// scores summarizes scores of trials in percent.
func scores(results []*train.Result, score func(*train.Result) float64) stats.Summary {
	percent := make([]float64, len(results))
	for i, r := range results {
		percent[i] = 100 * score(r)
	}
	return stats.Summarize(percent)
}
