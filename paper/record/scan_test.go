package record

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// scanned checks that what is scanned of a line, if it is, is what encoding/json reads, and reports whether it is.
func scanned(t *testing.T, r *reader, line []byte) bool {
	body, end, err := unsealed(line)
	if err != nil {
		return false
	}
	got, h, plain := r.scan(body)
	if !plain {
		return false
	}
	want, c, err := decode(append(bytes.Clone(body), end...), hasReadings(body))
	require.NoError(t, err, "%s", line)
	require.Equal(t, want, got, "%s", line)
	require.Equal(t, c.Key(), want.Cell)
	require.Equal(t, c.Parameters, h.cell.Parameters)
	return true
}

func TestEveryCommittedLineIsScannedAsEncodingJSONReadsIt(t *testing.T) {
	for _, folder := range []string{"", "cited", "multiverse"} {
		files, err := filepath.Glob(filepath.Join("../../results", folder, "*.jsonl"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		reader := newReader("")
		for _, path := range files {
			text := readFile(t, path)
			n := 0
			for line := range bytes.Lines(text) {
				n++
				if folder != "" && n%11 != 0 {
					continue // reading all of them the slow way takes a while
				}
				require.True(t, scanned(t, reader, line), "%s: line %d", path, n)
			}
		}
	}
}

func TestLinesThatAreWrittenOtherwiseAreReadToo(t *testing.T) {
	line := lineOf(t, someTrajectory(NewCell("cora", "gin", datasets.Inductive, 10), 7))
	want, err := Parse(line)
	require.NoError(t, err)
	for _, change := range [][2]string{{`,"seed":7`, ` , "seed":7`}, {`"epochs":60`, `"epochs": 60`},
		{"80.125", "8.0125e1"},
		{`"backend":"go"`, `"backend":"\u0067o"`}, {`"split":"0123",`, ""}, {"80.125", "080.125"}, {`"seed":7`, `"seed":07`},
		{"80.125", "80."}} {
		require.Contains(t, string(line), change[0])
		text := strings.Replace(string(line), change[0], change[1], 1)
		if change[1] == "" { // a field in another place
			text = strings.Replace(text, `{`, `{"split":"0123",`, 1)
		}
		got, err := Parse([]byte(text))
		if !json.Valid([]byte(text)) {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func FuzzScan(f *testing.F) {
	for _, c := range []Cell{NewCell("cora", "gin", datasets.Inductive, 10),
		NewCell("cora", "gat", datasets.Transductive, 50).Masked(0.5)} {
		f.Add(lineOf(f, someTrajectory(c, 7)))
		c.Cached, c.History = true, true
		line := lineOf(f, testRecord(c, 7, 80))
		f.Add(line)
		f.Add(sealed(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		scanned(t, newReader(""), line)
	})
}
