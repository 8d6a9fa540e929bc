package paper

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestEveryCellOfThePapersGINTablesIsThereOnce(t *testing.T) {
	for data, cells := range map[string]struct{ inductive, transductive []int }{
		"cora":   {[]int{10, 20, 25, 33, 50, 75, 90}, []int{10, 20, 25, 33, 50, 75, 90}},
		"pubmed": {[]int{10, 20, 25, 33, 50, 75, 90}, []int{10, 20, 25, 33, 50, 75, 90}},
		"reddit": {[]int{10, 20, 25, 33, 50}, nil},
	} {
		found := map[datasets.Setting][]int{}
		for _, s := range GINScores() {
			if s.Data == data {
				found[s.Setting] = append(found[s.Setting], s.TrainPercent)
			}
		}
		require.Equal(t, cells.inductive, found[datasets.Inductive], data)
		require.Equal(t, cells.transductive, found[datasets.Transductive], data)
	}
}

func TestTheFiguresAreThoseOfThePapersText(t *testing.T) {
	folder := os.Getenv("NODEMASK_TEST_PAPER")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "paper")
	}
	text, err := os.ReadFile(filepath.Join(folder, "node-masking.tex"))
	if err != nil {
		t.Skipf("skipped: the paper's text is not there (NODEMASK_TEST_PAPER names its folder): %v", err)
	}
	// Rows of the tables of GIN: "10 & 52.91 & \textbf{56.38} & 77.95 & \textbf{79.65}\\", Reddit's without the last two.
	const number = `(?:\\textbf\{)?(\d\d\.\d\d)\}?\s*`
	row := regexp.MustCompile(`(?m)^\s*(\d\d) & ` + number + `& ` + number + `(?:& ` + number + `& ` + number + `)?\\\\\s*$`)
	var want []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for i, cell := range m {
			if i > 1 && cell != "" {
				want = append(want, cell)
			}
		}
	}
	var got []string
	for _, s := range GINScores() {
		for _, score := range []float64{s.GIN, s.Masked} {
			got = append(got, strconv.FormatFloat(score, 'f', 2, 64))
		}
	}
	require.Equal(t, want, got)
}

func TestAScoreThatWasNotPublishedIsNotFound(t *testing.T) {
	_, found := GINScore("reddit", datasets.Transductive, 10, false)
	require.False(t, found)
}

func ExampleGINScore() {
	fmt.Println(GINScore("cora", datasets.Inductive, 10, true))
	// Output: 56.38 true
}
