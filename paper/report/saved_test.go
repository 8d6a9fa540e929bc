package report

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/paper"
)

const results = "../../results"

// damagedBut returns a folder of results in which only these files are valid.
func damagedBut(t *testing.T, whole ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, part := range []string{"", FirstFolder, SecondFolder} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, part), 0o777))
		files, err := filepath.Glob(filepath.Join(results, part, "*.jsonl"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, path := range files {
			name := filepath.Join(part, filepath.Base(path))
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("damaged\n"), 0o666))
		}
	}
	for _, name := range whole {
		text, err := os.ReadFile(filepath.Join(results, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o666))
	}
	return folder
}

func shown(e *Evidence, id string) (string, error) {
	found, err := Find(id)
	if err != nil {
		return "", err
	}
	t, err := e.Table(found[0])
	if err != nil {
		return "", err
	}
	return t.Render("csv")
}

func TestATableReadsTheFilesOfItsOwnModelAndDataAlone(t *testing.T) {
	readings, cited := filepath.Join(FirstFolder, "cora-gin.jsonl"), filepath.Join(SecondFolder, "cora-gin.jsonl")
	for id, files := range map[string][]string{
		"table-gin-cora":    {"cora-gin.jsonl", cited},
		"fig-keep-rate-gin": {"cora-gin.jsonl"}, // one split for all trials, so trainings are not read
		"table-scale-cora":  {"cora-gin.jsonl"},
		"table-mad":         {"cora-gat.jsonl", "cora-sgat.jsonl"},
		"fig-depth":         {"cora-gin.jsonl", readings},
	} {
		want, err := shown(committed(t), id)
		require.NoError(t, err)
		got, err := shown(Open(damagedBut(t, files...)), id)
		require.NoError(t, err, id)
		require.Equal(t, want, got, id)
		for i, missing := range files {
			others := append(append([]string{}, files[:i]...), files[i+1:]...)
			_, err := shown(Open(damagedBut(t, others...)), id)
			require.ErrorContains(t, err, missing+": line 1: not a ", id)
		}
	}
}

func TestWhatCannotBeReadIsToldWhereverItIsShown(t *testing.T) {
	for name, show := range map[string]func(*Evidence){
		"summary": func(e *Evidence) { Summary(Artifacts(), e) },
		"forest":  func(e *Evidence) { ClaimsForest(Artifacts(), e) },
		"records": func(e *Evidence) { e.Records.Trials(paper.Cell("cora", "gin", "inductive", 10)) },
	} {
		e, told := Open(damagedBut(t)), 0
		e.OnError = func(error) { told++ }
		show(e)
		require.ErrorContains(t, e.Err(), "line 1: not a ", name)
		require.Positive(t, told, name)
	}
	require.ErrorContains(t, WriteReport(io.Discard, Artifacts(), Open(damagedBut(t))), "line 1: not a ")
}
