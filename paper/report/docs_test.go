package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

var update = flag.Bool("update", false, "write what docs/ says of the committed results anew")

func committed(t *testing.T) *Evidence {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, read().Err()) })
	return read()
}

var read = sync.OnceValue(func() *Evidence { return Open("../../results") })

func reported(t *testing.T) []Artifact {
	t.Helper()
	artifacts, err := Find()
	require.NoError(t, err)
	return artifacts
}

// requireSays checks, or writes, the text between the lines "<!-- name -->" and "<!-- end of name -->" of a document
// or notebook.
func requireSays(t *testing.T, file, name, text string) {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	if strings.HasSuffix(file, ".ipynb") {
		begin, end = quoted(begin), strings.TrimSuffix(quoted(end), "\",\n")
		lines := ""
		for line := range strings.Lines(text) {
			lines += quoted(line)
		}
		text = lines
	} else {
		text = wrapped(text)
	}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(content), begin)
	require.True(t, found, "%s has no line %s", file, begin)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no line %s", file, end)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+text+end+after), 0o644))
		return
	}
	require.Equal(t, text, have, "'go test ./paper/report -update' writes it anew")
}

// quoted is a line as a notebook's file writes it.
func quoted(line string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		panic(err)
	}
	return "    " + strings.TrimSuffix(b.String(), "\n") + ",\n"
}

const notebooks = "../../notebooks/"

func TestDocsSumUpTheCommittedResults(t *testing.T) {
	artifacts, e := reported(t), committed(t)
	claims, report := "../../docs/CLAIMS.md", "../../docs/REPRODUCTION.md"
	for file, names := range map[string][]string{"../../README.md": {"answer", "todo"},
		report:                           {"why", "fit", "critics", "todo", "balanced", "departures", "scale"},
		notebooks + "10-table-gat.ipynb": {"gat"}, notebooks + "11-table-mad.ipynb": {"mad"},
		notebooks + "12-table-gin.ipynb": {"gin"}, notebooks + "13-table-scale.ipynb": {"caching"},
		notebooks + "20-appendix-figures.ipynb": {"figures"},
		notebooks + "30-beyond.ipynb":           {"beyond"},
		notebooks + "32-why-it-works.ipynb":     {"explained", "scale", "sums"}} {
		for _, name := range names {
			text, err := e.Prose(name)
			require.NoError(t, err)
			requireSays(t, file, name, text)
		}
	}
	gin, err := e.GINTable()
	require.NoError(t, err)
	grid, err := e.Grid()
	require.NoError(t, err)
	for _, of := range []struct {
		file, name string
		table      plots.Table
	}{{claims, "nodemask report summary --format markdown", Summary(artifacts, e)},
		{report, "GIN without masking", gin}, {report, "grid", grid},
		{report, "counts", CountTable(Judge(artifacts, e))}} {
		text, err := of.table.Render(plots.FormatMarkdown)
		require.NoError(t, err)
		requireSays(t, of.file, of.name, text)
	}
	requireSays(t, report, "trials", fmt.Sprintf("The tables rest on %d trials.\n", e.Trials()))
}

func TestThePageOnGraphsIsThatOfTheCommittedResults(t *testing.T) {
	e := committed(t)
	page := "../../docs/GRAPHS.md"
	sign, err := e.OneSign()
	require.NoError(t, err)
	text := map[string]string{"one sign": sign, "dense": DenseGraphs(), "rules": "- Masking. " +
		judge.Fit(judge.Cases(), false).Words() + "\n- Masking, rescaled. " + judge.Fit(judge.Cases(), true).Words() + "\n"}
	tables := map[string]plots.Table{"beforehand": BeforehandTable(), "predictions": PredictionsTable()}
	for _, model := range judge.Graphs.Models() {
		if tables[model], err = e.GraphsTable(model); err != nil {
			t.Fatal(err)
		}
	}
	for name, table := range tables {
		text[name], err = table.Render(plots.FormatMarkdown)
		require.NoError(t, err)
	}
	for name, says := range text {
		requireSays(t, page, name, says)
	}
}

// wrapped wraps paragraphs and list items at 120 columns and never breaks commands.
func wrapped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		item := strings.HasPrefix(line, "- ")
		if utf8.RuneCountInString(line) <= 120 || !item && strings.IndexAny(line, "|!<") == 0 {
			continue
		}
		var b strings.Builder
		column := 0
		for _, word := range regexp.MustCompile("(?:`[^`]*`|[^ `])+").FindAllString(line, -1) {
			width := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+width > 120 && item:
				b.WriteString("\n  ")
				column = 2
			case column+1+width > 120:
				b.WriteString("\n")
				column = 0
			default:
				b.WriteString(" ")
				column++
			}
			b.WriteString(word)
			column += width
		}
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

func TestTheFiguresInDocsDrawTheCommittedResults(t *testing.T) {
	artifacts, e := reported(t), committed(t)
	gains, err := e.Gains()
	require.NoError(t, err)
	levels, err := e.Levels()
	require.NoError(t, err)
	for _, data := range judge.Data() {
		for _, nodes := range []string{"new", "known"} {
			rank, err := e.rankOfLevels(data, nodes)
			require.NoError(t, err)
			require.Negative(t, rank, "%s: %s, %s nodes", levels.Title, data, nodes)
		}
	}
	drawings := map[string]func() ([]byte, error){gainsID: func() ([]byte, error) { return Clickable(gains) },
		levelsID: levels.SVG, "claims": ClaimsForest(artifacts, e).SVG, GraphsID: GraphsForest().SVG}
	for _, part := range []judge.Part{judge.Departures, judge.Scale} {
		f, err := e.PartForest(part)
		require.NoError(t, err)
		drawings[string(part)] = f.SVG
	}
	file, err := os.Open(filepath.Join(results, ReadingsFile))
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	readings, err := DrawReadings(file)
	require.NoError(t, err)
	drawings[ReadingsID] = readings.SVG
	for name, draw := range drawings {
		svg, err := draw()
		require.NoError(t, err)
		file := "../../docs/" + name + ".svg"
		if *update {
			require.NoError(t, os.WriteFile(file, svg, 0o644))
		}
		have, err := os.ReadFile(file)
		require.False(t, errors.Is(err, fs.ErrNotExist), "%s: 'go test ./paper/report -update' draws it", file)
		require.NoError(t, err)
		require.True(t, string(svg) == string(have), "'go test ./paper/report -update' draws %s anew", file)
	}
}

func TestDeviationsNameWhatTheRecordsHave(t *testing.T) {
	e := committed(t)
	text, err := os.ReadFile("../../paper/DEVIATIONS.md")
	require.NoError(t, err)
	said := strings.Join(strings.Fields(string(text)), " ")

	asked := map[string]bool{}
	for _, part := range judge.Parts() {
		for _, setting := range datasets.Settings() {
			q, err := judge.QuestionOf(part, "pubmed", "gin", setting)
			if part == judge.Balanced || part == judge.Scale { // Cora only
				continue
			}
			require.NoError(t, err)
			if part == judge.Departures { // Cora only in the protocol; ADDITIONS.md adds one
				q.Readings = []judge.Reading{q.Readings[0], q.Readings[len(q.Readings)-1]}
			}
			cells, err := judge.Cells([]judge.Question{q})
			require.NoError(t, err)
			for _, c := range cells {
				asked[c.Key()] = true
			}
		}
	}
	outside := 0
	records, err := record.OpenUnder("../../results/"+SecondFolder, judge.SecondProtocol()).Load(
		record.Pair{Data: "pubmed", Model: "gin"})
	require.NoError(t, err)
	for _, r := range records {
		if !asked[r.Cell] {
			outside++
		}
	}
	require.Contains(t, said, fmt.Sprintf("and %d trials of GIN's departures on PubMed", outside))

	rows, err := judge.Answers(e.cited, judge.WithChoice(judge.Choice{}))
	require.NoError(t, err)
	answers := slices.Concat(rows...)
	grid, err := e.Answers()
	require.NoError(t, err)
	require.Contains(t, said, fmt.Sprintf("not over the %d of the primary family", len(answers)))
	require.Contains(t, said, fmt.Sprintf("the %d cells of the grid", len(judge.Rows())*6))
	var otherwise []string
	for i, a := range answers {
		if a.Verdict != grid[i].Verdict {
			otherwise = append(otherwise, fmt.Sprintf("%s on %s's %s would be *%s*", hyper.Title(a.Model), DataTitle(a.Data),
				nodesOf(a.Setting), a.Verdict))
		}
	}
	require.Len(t, otherwise, 1)
	require.Contains(t, said, "With the latter "+otherwise[0]+".")
}

func TestClaimsForProgramsAreThoseOfTheCommittedResults(t *testing.T) {
	const file = "../../docs/claims.json"
	var text bytes.Buffer
	require.NoError(t, WriteClaims(&text, reported(t), committed(t)))
	if *update {
		require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(want) == text.String(), "'go test ./paper/report -update' writes it anew")

	var all claimsJSON
	require.NoError(t, json.Unmarshal(want, &all))
	require.Equal(t, "nodemask-claims", all.Schema)
	require.Equal(t, 1, all.Version)
	judged := Judge(reported(t), committed(t))
	require.Len(t, all.Claims, len(judged))
	for i, c := range all.Claims {
		j := judged[i]
		require.Equal(t, j.ID, c.ID)
		require.Equal(t, string(j.Grade), c.Grade)
		require.Equal(t, j.Command, c.Command)
		require.Equal(t, j.Effect != nil, c.Effect != nil && c.Interval != nil && c.N > 1, c.ID)
		if c.Effect != nil {
			require.InDelta(t, j.Effect.MeanDifference, *c.Effect, 1e-6)
			require.True(t, c.Interval[0] <= *c.Effect && *c.Effect <= c.Interval[1], c.ID)
		}
		require.Equal(t, c.Grade == string(judge.NotRun) && len(c.Records) == 0, len(c.Records) == 0, c.ID)
		for _, name := range c.Records {
			require.FileExists(t, filepath.Join("..", "..", "results", filepath.FromSlash(name)), c.ID)
		}
	}
}

func TestNumbersThatJSONLacksAreNullInClaims(t *testing.T) {
	require.Nil(t, finite(math.NaN()))
	require.Nil(t, finite(math.Inf(1)))
	require.Equal(t, 0.123457, *finite(0.1234567))
	a := Artifact{ID: "x", Claims: []Claim{{ID: "x/y", Subject: aboutGIN, Judge: func(*Evidence) Verdict {
		return Verdict{Grade: judge.CannotTell, Effect: &stats.TTest{N: 2, P: math.NaN(), Low: math.Inf(-1)}}
	}}}}
	e := newEvidence(t, nil)
	var text bytes.Buffer
	require.NoError(t, WriteClaims(&text, []Artifact{a}, e))
	require.Contains(t, text.String(), `"interval": null`)
	require.Contains(t, text.String(), `"p": null`)
	require.Contains(t, text.String(), `"records": []`)
}
