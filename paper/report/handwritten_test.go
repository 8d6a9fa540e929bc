package report

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

// said is what somebody has written by hand into a document: its words must stand there, and hold.
type said struct {
	file, words string
	holds       bool
}

// checked returns all results and facts of hand-written text.
func checked(t *testing.T, e *Evidence) []said {
	t.Helper()
	ctx := t.Context()
	cora, err := datasets.Open(ctx, "cora", datasets.OpenOptions{})
	require.NoError(t, err)
	nodes := func(root int32, hops int, masked ...int32) string {
		mask := make([]bool, cora.NumNodes())
		for _, v := range masked {
			mask[v] = true
		}
		c, err := aggtree.Count(ctx, cora.Edges, root, hops, mask)
		require.NoError(t, err)
		return regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(fmt.Sprint(c.Total), "$1,$2")
	}
	degrees, most := map[int]bool{}, 0
	for v := range int32(cora.NumNodes()) {
		degrees[cora.Edges.Degree(v)], most = true, max(most, cora.Edges.Degree(v))
	}
	seven, err := aggtree.Count(ctx, cora.Edges, 163, 7, nil)
	require.NoError(t, err)
	alone := func(v, u int32) bool { // each is the other's only neighbour
		return slices.Equal(cora.Edges.Neighbours(v), []int32{u}) && slices.Equal(cora.Edges.Neighbours(u), []int32{v})
	}
	alike, err := aggtree.GroupAll(ctx, cora.Edges, 4, make([]uint64, cora.NumNodes()), nil)
	require.NoError(t, err)
	words, err := aggtree.GroupAll(ctx, cora.Edges, 0, cora.Features.RowHashes(), nil)
	require.NoError(t, err)
	largest := slices.MaxFunc(alike, func(a, b []int32) int { return len(a) - len(b) })
	pairs := !slices.ContainsFunc(largest, func(v int32) bool { return !alone(v, cora.Edges.Neighbours(v)[0]) })

	number := func(x float64, err error) float64 { require.NoError(t, err); return x }
	is := func(id string, grade judge.Grade) bool {
		yes, err := e.graded(id, grade)
		require.NoError(t, err)
		return yes
	}
	mean := func(c record.Cell) float64 { return number(e.meanOf(c, record.MacroF1)) }
	gin := func(size int) record.Cell { return paper.Cell("cora", "gin", datasets.Inductive, size) }
	rescaled, err := e.in(judge.Scale)("gin", "known", "rescale: yes")
	require.NoError(t, err)
	newRescaled, err := e.in(judge.Scale)("gin", "new", "rescale: yes")
	require.NoError(t, err)
	newCited, err := e.in(judge.Scale)("gin", "new", "the cited reading")
	require.NoError(t, err)
	early := 0
	pubmed := e.Records.Trials(paper.Cell("pubmed", "gin", datasets.Inductive, 10))
	for _, r := range pubmed {
		if r.BestEpoch <= 15 {
			early++
		}
	}
	var reddit datasets.Info
	for _, info := range datasets.Catalogue() {
		if info.Name == "reddit" {
			reddit = info
		}
	}
	gat := paper.Cell("cora", "gat", datasets.Inductive, 10).Parameters
	higher := is("fig-loss-cora/train", judge.Reproduced)
	depths := judge.Depths()
	deepest := depths[len(depths)-1]
	return []said{
		{"00", fmt.Sprintf("a graph of %d,%03d papers", cora.NumNodes()/1000, cora.NumNodes()%1000), true},
		{"00", "seven fields", cora.NumClasses() == 7},
		{"00", fmt.Sprintf("%s and %s nodes: 163 has more neighbours than any other", nodes(163, 2), nodes(163, 3)),
			cora.Edges.Degree(163) == most},
		{"00", "a low p starves GIN", number(e.f1Of("gin", "new", 0.1)) < number(e.f1Of("gin", "new", 0.5))-10},
		{"00", "F1 falls by far", mean(gin(10)) < mean(gin(50))-10 && mean(masked(gin(10))) < mean(masked(gin(50)))-10},
		{"01", fmt.Sprintf("has the most neighbours of Cora's, %d", most), cora.Edges.Degree(163) == most},
		{"01", fmt.Sprintf("%s tree nodes for it, and seven more than a thousand million", nodes(163, 2)), seven.Total > 1e9},
		{"01", "the words alone tell nearly all papers apart", len(words) > 95*cora.NumNodes()/100},
		{"01", fmt.Sprintf("%d different degrees", len(degrees)), true},
		{"01", "the largest one is made of pairs of papers that cite each other and nobody else", pairs},
		{"01", "81, for example: it and 647 cite each other and nobody else", alone(81, 647)},
		{"02", fmt.Sprintf("from paper 5 of Cora: %s tree nodes", nodes(5, 2)), true},
		{"02", fmt.Sprintf("%s tree nodes are left", nodes(5, 2, 490)), true},
		{"02", "the train loss stays higher", higher},
		{"02", "The *train* loss stays higher with masking", higher},
		{"02", "batch normalisation evens out most of it on new nodes; known nodes still gain from rescaling",
			newRescaled.MeanDifference-newCited.MeanDifference < 1 && rescaled.Low > 0},
		{"02", "known nodes gain, and new ones hardly",
			newRescaled.MeanDifference-newCited.MeanDifference < 1 && rescaled.Low > 0},
		{"02", fmt.Sprintf("Try 309, whose only neighbour is 163 with its %d", most),
			slices.Equal(cora.Edges.Neighbours(309), []int32{163})},
		{"10", fmt.Sprintf("with probability %v", gat.AttentionDropout), true},
		{"12", "many trials keep one of their first epochs", len(pubmed) > 0 && 3*early >= len(pubmed)},
		{"12", fmt.Sprintf("its %d million edges", reddit.Edges/1e6), true},
		{"12", fmt.Sprintf("the paper's %.2f", *Published("cora", "gin", datasets.Inductive, 10, false)), true},
		{"20", fmt.Sprintf("GIN of %d to %d layers", depths[0], deepest), true},
		{"20", fmt.Sprintf("do best at %d layers without masking", deepest), true},
		{"REPRODUCTION", fmt.Sprintf("these %d cells", 2*len(judge.Data())*len(judge.Rows())), true},
	}
}

// defined are numbers that define: what an experiment is or how a rule goes. Alone they say nothing of a result.
var defined = []string{"95 % intervals", "95 % confidence intervals", "10, 25, 50 and 90 % to train on", "p < 0.05",
	"the 90 % interval lies between −1 and 1", "power 80 %", "in 95 of 100 experiments that look *once*",
	"error of 5 %", "share 5 % of error", "Silvestri 2020", "Go ≥ 1.26.5, Python ≥ 3.10", "Apache 2.0",
	"masked at 0.5", "at 0.1 nine train nodes in ten", "of its own, at 0.6", "10 trials with random", "at 16 layers",
	"Replace 10 by 50", "At 10 % most neighbours", "at 0.05, uncorrected", "after 12, 27, 60 and 135 splits"}

var (
	generated = regexp.MustCompile(`(?s)<!-- ([^>]*?) -->.*?<!-- end of [^>]*? -->|<(style|script)>.*?</(style|script)>|` +
		`\{\{.*?\}\}|\{%.*?%\}`)
	coded = regexp.MustCompile("(?s)```.*?```|`[^`]*`|(?m:^    [^\n]*$)")
	// Formulas, addresses, tags, and numbers of lists.
	unread = regexp.MustCompile(`(?s)\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)]*\)|<[a-z/!][^>]*>|(?m:^\d+\. )`)
	// References, names such as F1 and GIN-0, and years of citations.
	named = regexp.MustCompile(`(?i)\b(figures?|tables?|eqs?\.|section|theorem|lemma)\s+\d+\w?((,| and| to) \d+\w?)*|` +
		`[\p{L}_]+[-−]?\d[\w-]*|\b(19|20)\d\d\b`)
	numeral   = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	size      = regexp.MustCompile(`(\d+) % (?:to train on|of the nodes)|(?i:at) (\d+) %`)
	ofResults = regexp.MustCompile(`\d\s*(%|points)|\d of \d`)
	verb      = regexp.MustCompile(`\b[Mm]asking (scores|beats|loses|gains|hurts|(adds|does) nothing)\b|` +
		`\b(GIN|S?GAT) (gains|loses|does (better|worse))\b|\bmeans (fall|rise)\b|\bpredictions? (fails?|holds?)\b|` +
		`\b(F1|loss) (falls|rises|stays|is (higher|lower))\b|±\s*\d|\d\.\d+\s(points|%)`)
)

// byHand returns a document's own text, on one line, and its code.
func byHand(t *testing.T, file string) (text, code string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	text = string(content)
	if strings.HasSuffix(file, ".ipynb") {
		var notebook struct {
			Cells []struct {
				Type   string   `json:"cell_type"`
				Source []string `json:"source"`
			} `json:"cells"`
		}
		require.NoError(t, json.Unmarshal(content, &notebook), file)
		text = ""
		for _, cell := range notebook.Cells {
			if source := strings.Join(cell.Source, "") + "\n\n"; cell.Type == "markdown" {
				text += source
			} else {
				code += source
			}
		}
	}
	text = generated.ReplaceAllString(text, "")
	code += strings.Join(coded.FindAllString(text, -1), "\n")
	text = html.UnescapeString(unread.ReplaceAllString(coded.ReplaceAllString(text, "`"), " "))
	return strings.Join(strings.Fields(text), " "), code
}

// TestResultsWrittenByHandAreThoseOfTheRecords lets no number stand that is not checked, defined, or a setting in the
// document's own code.
func TestResultsWrittenByHandAreThoseOfTheRecords(t *testing.T) {
	all, used := checked(t, committed(t)), map[int]bool{}
	files, err := filepath.Glob(notebooks + "*.ipynb")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "../../README.md", "../../docs/REPRODUCTION.md", "../../docs/CLAIMS.md",
		"../../docs/GRAPHS.md", "../../paper/README.md", "../../scripts/reports/index.html.jinja", "report.html.tmpl") {
		text, code := byHand(t, file)
		for i, s := range all {
			if strings.HasPrefix(filepath.Base(file), s.file) {
				used[i] = true
				assert.Contains(t, text, s.words, "%s: the records or the data say this", file)
				assert.True(t, s.holds, "%s: %q is false of the records or the data", file, s.words)
				text = strings.ReplaceAll(text, s.words, "")
			}
		}
		const help = "%s: let 'go test ./paper/report -update' write it, check it in handwritten_test.go, or leave it out"
		assert.Empty(t, verb.FindAllString(text, -1), help, file)
		for _, words := range defined {
			text = strings.ReplaceAll(text, words, "")
		}
		text = named.ReplaceAllString(text, "")
		assert.Empty(t, ofResults.FindAllString(size.ReplaceAllString(text, "$1"), -1), help, file)
		for _, at := range numeral.FindAllStringIndex(text, -1) {
			n := text[at[0]:at[1]]
			assert.True(t, len(n) == 1 && n < "2" || slices.Contains(numeral.FindAllString(code, -1), n), help+": %s in %q", file,
				n, text[max(0, at[0]-60):min(len(text), at[1]+40)])
		}
	}
	assert.Len(t, used, len(all))
}
