package report

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
	text "text/template"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

//go:embed prose/*.md.tmpl
var prose embed.FS

const notMeasured = "Not everything has been measured yet.\n"

var errMissing = errors.New("not measured yet")

// Prose fills a template of the folder prose with numbers, or returns a note if numbers are missing. If the numbers
// make a sentence of the template false, it returns an error.
func (e *Evidence) Prose(name string) (string, error) {
	source, err := prose.ReadFile("prose/" + name + ".md.tmpl")
	if err != nil {
		return "", err
	}
	return e.fill(name+".md", string(source))
}

func (e *Evidence) fill(name, source string) (string, error) {
	t, err := text.New(name).Funcs(e.words()).Parse(source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); errors.Is(err, errMissing) {
		return notMeasured, nil
	} else if err != nil {
		return "", err
	}
	return b.String(), e.Err()
}

type effect struct {
	stats.TTest
	Verdict judge.Verdict
	Plain   float64   // mean macro F1 without masking, in percent
	Plains  []float64 // mean macro F1 without masking, in percent, by train set size
	BySize  []float64 // mean effect at each train set size, in points of macro F1
}

func (e *Evidence) words() text.FuncMap {
	return text.FuncMap{
		"say": func(words string, claims ...bool) (string, error) {
			if len(claims) == 0 || slices.Contains(claims, false) {
				return "", fmt.Errorf("%q is false of these numbers: %v", words, claims)
			}
			return words, nil
		},
		"graphs": e.graphsSentence, "masksGAT": e.gatElsewhere, "gain": e.gain,
		"gains": e.gainsOf, "instead": e.instead, "stated": e.stated, "published": published,
		"distance": e.distance, "early": e.earlyEpochs, "single": e.singleClass, "stopped": e.stoppedGAT,
		"tuned": e.tunedAgainst, "sub": func(a, b float64) float64 { return a - b },
		"is": e.graded, "claimed": e.claimed, "cost": e.cost, "mad": e.madOf, "f1": e.f1Of, "rank": e.rankOfLevels,
		"scaled": e.in(judge.Scale), "departed": e.in(judge.Departures),
		"sums": e.rankOfSums, "deepest": e.deepest,
		"printed": func(model string) float64 { return *Published(leadingData, model, datasets.Inductive, 10, false) },
		"every": func(word judge.Verdict, all []effect) bool {
			return count(all, func(x effect) bool { return x.Verdict != word }) == 0
		},
		"ascends": func(x []float64) bool { return slices.IsSorted(x) },
		// back reports whether x falls and then comes back to near its start.
		"back":   func(x []float64) bool { return x[1] < min(x[0], x[2]) && math.Abs(x[2]-x[0]) < (x[0]-x[1])/2 },
		"mads":   func(x []float64) string { return fmt.Sprintf("%.2f, %.2f, %.2f", x[0], x[1], x[2]) },
		"half":   func(x float64) float64 { return x / 2 },
		"above":  func(all []effect) int { return count(all, func(x effect) bool { return x.Low > 0 }) },
		"below":  func(all []effect) int { return count(all, func(x effect) bool { return x.High < 0 }) },
		"rises":  func(x effect) bool { return x.Low > 0 },
		"falls":  func(x effect) bool { return x.High < 0 },
		"settle": func(x effect) bool { return x.Low > 0 || x.High < 0 },
		"signed": func(x float64) string { return plots.Signed(x, 1) },
		"abs":    func(x float64) string { return fmt.Sprintf("%.1f", math.Abs(x)) },
		"two":    func(x float64) string { return plots.Signed(x, 2) },
		"hundredths": func(x float64) string {
			return fmt.Sprintf("%.2f", math.Abs(x))
		},
		"interval": func(x effect) string { return intervalText(x.TTest, 2) },
		"span": func(all []effect) string {
			least, most := extremes(all)
			return plots.Signed(least, 1) + " to " + plots.Signed(most, 1)
		},
		"least": func(all []effect) float64 { least, _ := extremes(all); return least },
		"most":  func(all []effect) float64 { _, most := extremes(all); return most },
	}
}

func extremes(all []effect) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, x := range all {
		least, most = min(least, x.MeanDifference), max(most, x.MeanDifference)
	}
	return least, most
}

func setting(nodes string) datasets.Setting {
	if nodes == "new" {
		return datasets.Inductive
	}
	return datasets.Transductive
}

func effectOf(a judge.Answer, err error) (effect, error) {
	if err != nil {
		return effect{}, err
	}
	if !a.Complete() {
		return effect{}, fmt.Errorf("%s on %s, %s: %w", a.Model, a.Data, a.Setting, errMissing)
	}
	x := effect{TTest: a.Effect.Pooled, Verdict: a.Verdict, Plain: average(a.Effect.Plain), Plains: a.Effect.Plain}
	for _, size := range a.Effect.Differences {
		x.BySize = append(x.BySize, average(size))
	}
	return x, nil
}

func (e *Evidence) gain(model, data, nodes, choice string) (effect, error) {
	c, err := judge.ChoiceOf(choice)
	if err != nil {
		return effect{}, err
	}
	grid, err := e.grid()
	if err != nil {
		return effect{}, err
	}
	for i, row := range judge.Rows() {
		if row.Model == model && row.Choice == c {
			return effectOf(find(grid[i], data, setting(nodes)), nil)
		}
	}
	return effectOf(judge.Ask(e.cited, data, model, setting(nodes), c, judge.Contrast{}))
}

func (e *Evidence) gainsOf(models, data, nodes, choice string) (all []effect, err error) {
	for _, model := range strings.Fields(models) {
		for _, d := range strings.Fields(data) {
			for _, n := range strings.Fields(nodes) {
				x, err := e.gain(model, d, n, choice)
				if err != nil {
					return nil, err
				}
				all = append(all, x)
			}
		}
	}
	return all, nil
}

func (e *Evidence) instead(model, data, nodes, choice string) (effect, error) {
	c, err := judge.ChoiceOf(choice)
	if err != nil {
		return effect{}, err
	}
	plain, err := judge.Ask(e.cited, data, model, setting(nodes), c, judge.Contrast{})
	if err != nil {
		return effect{}, err
	}
	masked, err := judge.Ask(e.cited, data, model, setting(nodes), judge.Choice{}, judge.Contrast{})
	if err != nil {
		return effect{}, err
	}
	if !plain.Complete() || !masked.Complete() {
		return effect{}, errMissing
	}
	x := effect{}
	var differences [][]float64
	for _, size := range plain.Sizes {
		without, err := plain.F1(e.cited, plain.Reading, judge.Plain, size)
		if err != nil {
			return x, err
		}
		with, err := masked.F1(e.cited, masked.Reading, judge.Masked, size)
		if err != nil {
			return x, err
		}
		var bySplit []float64
		for _, seed := range plain.Seeds {
			bySplit = append(bySplit, without[seed]-with[seed])
		}
		differences, x.BySize = append(differences, bySplit), append(x.BySize, average(bySplit))
	}
	x.TTest, err = stats.Pooled(differences)
	return x, err
}

func (e *Evidence) stated(data, nodes, choice string) (all []effect, err error) {
	c, err := judge.ChoiceOf(choice)
	if err != nil {
		return nil, err
	}
	q, err := judge.QuestionOf(judge.Stated, data, "gin", setting(nodes))
	if err != nil {
		return nil, err
	}
	answers, err := judge.Each(e.cited, c.On(q))
	for _, a := range answers {
		x, err := effectOf(a, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, err
}

func published(model, data, nodes string) (float64, error) {
	if gain := publishedOverReadings(data, model, setting(nodes)); gain != nil {
		return *gain, nil
	}
	return 0, fmt.Errorf("the paper has no gain of %s on %s, %s nodes", model, data, nodes)
}

func (e *Evidence) distance(measure, model, data, choice string) (float64, error) {
	c, err := judge.ChoiceOf(choice)
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	for _, s := range datasets.Settings() {
		a, err := judge.Ask(e.cited, data, model, s, c, judge.Contrast{})
		if _, err = effectOf(a, err); err != nil {
			return 0, err
		}
		squares, sizes := squares(a, measure)
		sum, n = sum+squares, n+sizes
	}
	return math.Sqrt(sum / float64(n)), nil
}

func squares(a judge.Answer, what string) (sum float64, n int) {
	for i, size := range a.Sizes {
		ours, theirs := a.Effect.Plain[i], Published(a.Data, a.Model, a.Setting, size, false)
		if what == "gains" {
			ours, theirs = average(a.Effect.Differences[i]), publishedGain(a.Data, a.Model, a.Setting, size)
		}
		if theirs != nil {
			sum, n = sum+(ours-*theirs)*(ours-*theirs), n+1
		}
	}
	return sum, n
}

func (e *Evidence) earlyEpochs(model, data, nodes string, size int, masked bool) (int, error) {
	plain, with, err := judge.Arms(data, model, setting(nodes), size)
	if err != nil {
		return 0, err
	}
	if masked {
		plain = with
	}
	return e.countTrials(plain, func(r record.Reading) bool { return r.BestEpoch <= 15 })
}

func (e *Evidence) singleClass(nodes string) (int, error) {
	_, masked, err := judge.Arms(leadingData, "gat", setting(nodes), 90)
	if err != nil {
		return 0, err
	}
	masked.Parameters.StopOn = hyper.StopOnF1
	return e.countTrials(masked, func(r record.Reading) bool { return r.F1 < 10 })
}

func (e *Evidence) countTrials(c record.Cell, counts func(record.Reading) bool) (n int, err error) {
	trials := e.cited.Readings(c)
	for seed := range uint64(judge.Splits) {
		trial, ok := trials[judge.FirstSplit+seed]
		if !ok {
			return 0, errMissing
		}
		if counts(trial) {
			n++
		}
	}
	return n, nil
}

func (e *Evidence) stoppedGAT(nodes string, sizes int) (x effect, err error) {
	all, err := e.each(judge.Departures, leadingData, "gat", setting(nodes))
	for _, a := range all {
		if judge.Departure(a.Axes, a.Reading) == "stop: macro F1" && a.Complete() {
			x.TTest, err = stats.Pooled(a.Effect.Differences[:sizes])
			return x, err
		}
	}
	return x, cmp.Or(err, errMissing)
}

func (e *Evidence) judged(id string) (Verdict, error) {
	for _, a := range Artifacts() {
		for _, c := range a.Claims {
			if c.ID == id {
				v := e.verdict(c)
				if v.Grade == judge.NotRun {
					return v, errMissing
				}
				return v, nil
			}
		}
	}
	return Verdict{}, fmt.Errorf("no claim %q", id)
}

func (e *Evidence) graded(id string, grade judge.Grade) (bool, error) {
	v, err := e.judged(id)
	return v.Grade == grade, err
}

func (e *Evidence) claimed(id string) (effect, error) {
	v, err := e.judged(id)
	if err != nil {
		return effect{}, err
	}
	return effect{TTest: *v.Effect}, nil
}

func (e *Evidence) cost(data, kind string) (effect, error) {
	contrast := map[string]func(judge.Scores) float64{
		"masked":  func(s judge.Scores) float64 { return s.Masked - s.MaskedCached },
		"plain":   func(s judge.Scores) float64 { return s.Plain - s.PlainCached },
		"without": func(s judge.Scores) float64 { return s.MaskedCached - s.Plain },
	}[kind]
	return effectOf(judge.Ask(e.cited, data, "gin", datasets.Inductive, judge.Choice{}, judge.Contrast{Of: contrast}))
}

func (e *Evidence) meanOf(c record.Cell, m record.Metric) (float64, error) {
	values := e.Records.Values(c, m)
	if len(values) == 0 {
		return 0, errMissing
	}
	return average(values), nil
}

func (e *Evidence) madOf(model, nodes string, of record.Metric) (all []float64, err error) {
	c := paper.Cell(leadingData, model, setting(nodes), 10)
	for _, c := range []record.Cell{c.Fair(), c, masked(c)} {
		mean, err := e.meanOf(c, "MAD of the "+of)
		if err != nil {
			return nil, err
		}
		all = append(all, mean)
	}
	return all, nil
}

func (e *Evidence) f1Of(model, nodes string, keep float64) (float64, error) {
	return e.meanOf(paper.Masked(paper.Cell(leadingData, model, setting(nodes), 10), keep), record.MacroF1)
}

type best struct{ P, F1 float64 }

func (e *Evidence) deepest(layers int, nodes string) (best, error) {
	curve := overKeepRates("", judge.DepthCell(leadingData, setting(nodes), layers), record.Cell.Masked)
	at, f1, fewest := curve.best(e.Records, inPaper)
	if fewest == 0 {
		return best{}, errMissing
	}
	return best{at.X, f1}, nil
}

func (e *Evidence) rankOfLevels(data, nodes string) (float64, error) {
	all, err := e.levels(data, setting(nodes))
	var levels, gains []float64
	for _, s := range all {
		levels, gains = append(levels, s.X...), append(gains, s.Y...)
	}
	if err != nil || len(levels) < 2 {
		return 0, cmp.Or(err, errMissing)
	}
	return stat.Kendall(levels, gains, nil), nil
}

func (e *Evidence) rankOfSums() (float64, error) {
	g, err := datasets.Open(context.Background(), leadingData, datasets.OpenOptions{})
	if err != nil {
		return 0, err
	}
	_, rank, err := e.Aggregates(g)
	return rank, err
}

func (e *Evidence) in(part judge.Part) func(model, nodes, reading string) (effect, error) {
	return func(model, nodes, reading string) (effect, error) {
		all, err := e.each(part, leadingData, model, setting(nodes))
		if err != nil {
			return effect{}, err
		}
		for _, a := range all {
			if judge.Departure(a.Axes, a.Reading) == reading {
				if a.Effect == nil {
					return effect{}, errMissing
				}
				return effect{TTest: a.Effect.Pooled, Plain: average(a.Effect.Plain)}, nil
			}
		}
		return effect{}, fmt.Errorf("%s: no reading %q", part, reading)
	}
}

func (e *Evidence) tunedAgainst(arm, variant string) (x effect, err error) {
	for _, t := range e.tuned(balancedID).cells {
		if t.Model.Name == "gin" && t.Model.With == variant && t.Data == leadingData && t.TrainPercent == 10 &&
			t.Setting == datasets.Transductive {
			at := slices.IndexFunc(t.Arms, func(other judge.TunedArm) bool { return other.Name == arm })
			x.Plain = average(t.Arms[at].F1)
			x.TTest, err = stats.Pooled([][]float64{t.Differences(judge.ArmMaskedTuned, arm)})
			return x, err
		}
	}
	return x, errMissing
}

var inline = []struct {
	markdown *regexp.Regexp
	html     string
}{
	{regexp.MustCompile(`\*\*(.+?)\*\*`), "<b>$1</b>"}, {regexp.MustCompile(`\*(\S.*?)\*`), "<em>$1</em>"},
	{regexp.MustCompile("`([^`]+)`"), "<code>$1</code>"}, {regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`), "$1"},
}

// proseHTML converts Markdown to HTML without links, because the links are relative to another folder.
func proseHTML(markdown string) template.HTML {
	line := func(s string) string {
		s = template.HTMLEscapeString(s)
		for _, mark := range inline {
			s = mark.markdown.ReplaceAllString(s, mark.html)
		}
		return s
	}
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(markdown), "\n\n") {
		switch {
		case strings.HasPrefix(part, "- "):
			items := strings.Split("\n"+part, "\n- ")[1:]
			for i, item := range items {
				items[i] = "<li>" + line(strings.Join(strings.Fields(item), " ")) + "</li>\n"
			}
			fmt.Fprintf(&b, "<ul>\n%s</ul>\n", strings.Join(items, ""))
		case strings.HasPrefix(part, "|"):
			b.WriteString("<div class=\"scroll\" tabindex=\"0\"><table>\n")
			for i, row := range strings.Split(part, "\n") {
				if i == 1 {
					continue
				}
				b.WriteString("<tr>")
				for k, cell := range strings.Split(strings.Trim(row, "| "), "|") {
					tag := "td"
					if i == 0 || k == 0 {
						tag = "th"
					}
					fmt.Fprintf(&b, "<%s>%s</%[1]s>", tag, line(strings.TrimSpace(cell)))
				}
				b.WriteString("</tr>\n")
			}
			b.WriteString("</table></div>\n")
		default:
			fmt.Fprintf(&b, "<p>%s</p>\n", line(strings.Join(strings.Fields(part), " ")))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // already escaped
}
