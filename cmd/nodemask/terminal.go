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

type progressLine struct {
	w            io.Writer
	live         bool
	start, shown time.Time
	end          time.Time // estimated
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
	runes := []rune(svg.Plain(text))
	if width := columns(p.w, 80); len(runes) >= width {
		runes = runes[:width-1]
	}
	p.text, p.shown = string(runes), time.Now()
	fmt.Fprintf(p.w, "\r\x1b[2K%s", p.text)
}

func columns(w io.Writer, otherwise int) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width
		}
	}
	return otherwise
}

func (p *progressLine) clear() {
	if p.live && p.text != "" {
		fmt.Fprint(p.w, "\r\x1b[2K")
		p.text = ""
	}
}

// say prints a line made safe by [svg.Plain]: names may contain anything.
func say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(w, svg.Plain(fmt.Sprintf(format, args...)))
	return err
}

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

// plainJSON escapes control and bidirectional characters as \u and four digits.
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
	if !slices.ContainsFunc(results, func(r *train.Result) bool { return r.AUC == nil }) {
		columns = append(columns, column{"AUC %", func(r *train.Result) float64 { return *r.AUC }})
	}
	if results[0].Cached != nil {
		columns = slices.Insert(columns, 1,
			column{"cached: macro F1 %", func(r *train.Result) float64 { return r.Cached.MacroF1 }},
			column{"cached, apart: macro F1 %", func(r *train.Result) float64 { return r.Apart.MacroF1 }})
	}
	t := plots.Table{ID: "trials", Header: []string{"seed"}, Groups: []int{len(results)}}
	means := plots.Fields("mean ± std")
	for _, c := range columns {
		t.Header = append(t.Header, c.name)
		means = append(means, plots.Field{Text: scores(results, c.score).Text(2)})
	}
	t.Header = append(t.Header, "best epoch", "epochs", "seconds")
	for _, r := range results {
		row := plots.Fields(fmt.Sprint(r.Seed))
		for _, c := range columns {
			row = append(row, plots.Field{Text: fmt.Sprintf("%.2f", 100*c.score(r))})
		}
		t.Rows = append(t.Rows, append(row, plots.Fields(fmt.Sprint(r.BestEpoch), fmt.Sprint(len(r.History)),
			fmt.Sprintf("%.1f", r.Seconds))...))
	}
	t.Rows = append(t.Rows, append(means, plots.Fields("", "", "")...))
	return t
}

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

// fewestTested: with ten test nodes, each counts 10 points of accuracy.
const fewestTested = 10

func thinSplit(x train.Experiment, s *datasets.Split) (notes []string) {
	fewer, more := "expected a lower --train or --set validation", "expected a higher --train"
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
			trained[c] = true
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

// fewestValidated: with fewer, one node moves the score by over 5 points.
const fewestValidated = 20

func tells(r *train.Result) bool {
	nodes := 0
	for _, row := range r.Validation.Confusion {
		for _, n := range row {
			nodes += n
		}
	}
	return nodes >= fewestValidated
}

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
		try = append(try, "--set norm=both")
	}
	if p.NormalizeFeatures {
		try = append(try, "--set raw-features=true")
	} else {
		try = append(try, "features that are divided by their sums (--set raw-features=false)")
	}
	try = append(try, fmt.Sprintf("a --learning-rate below %v", p.LearningRate))
	return fmt.Sprintf("%s collapsed: macro F1 on validation is at most %.1f %%, and one class for every node has %.1f %%: "+
		"try %s", seedsInWords(seeds), 100*best, 100*constant, strings.Join(try, ", or "))
}

// lateGain exceeds the noise on Cora's 27 validation nodes (largest train set).
const lateGain = 0.1

// laterF1 returns the best validation macro F1 after the kept epoch, and whether it is far better; never when stopping
// on F1.
func laterF1(x train.Experiment, r *train.Result) (best float64, late bool) {
	for _, epoch := range r.History[min(r.BestEpoch, len(r.History)):] {
		best = max(best, epoch.ValidationF1)
	}
	return best, x.Parameters.StopOn != hyper.StopOnF1 && best >= r.Validation.MacroF1+lateGain
}

// stoppedEarly names trials that got far better after the kept epoch, as when the loss is lowest before the model
// predicts well.
func stoppedEarly(x train.Experiment, results []*train.Result) string {
	var seeds, epochs []string
	kept, later := 0.0, 0.0
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

func scores(results []*train.Result, score func(*train.Result) float64) stats.Summary {
	percent := make([]float64, len(results))
	for i, r := range results {
		percent[i] = 100 * score(r)
	}
	return stats.Summarize(percent)
}
