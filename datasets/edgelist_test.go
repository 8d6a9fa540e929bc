package datasets

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/formats"
	"nodemask/datasets/internal/graphfile"
)

func edgesFrom(ctx context.Context, text string) (g *csr.Graph, ids, notes []string, err error) {
	l, err := formats.EdgeList(ctx, graphfile.Bytes("f", []byte(text)))
	if err != nil {
		return nil, nil, nil, err
	}
	read, err := fromFile(l, "", "f")
	if err != nil {
		return nil, nil, nil, err
	}
	return read.Edges, read.NodeIDs, read.Notes, nil
}

func TestEdgesAreReadWhateverSeparatesThem(t *testing.T) {
	g, ids, _, err := edgesFrom(t.Context(), "\ufeffa , b\r\nb\tc \n# note\n\n c   a\nd,d\n")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c", "d"}, ids)
	assert.EqualValues(t, 6, g.NumEdges(), "both directions of three, and no loop")
	for text, says := range map[string]string{
		"":                                  "f: no edges in 0 lines",
		"a\n":                               `f: line 1: found "a": expected two ids`,
		"a b\n,b\n":                         `f: line 2: found ",b": expected two ids`,
		"a,,b\n":                            `f: line 1: found "a,,b": expected two ids`,
		"a ,\n":                             `f: line 1: found "a ,": expected two ids`,
		"a \xff\n":                          "f: line 1: not UTF-8",
		"a b\n" + strings.Repeat("x", 5000): "f: line 2: longer than 4096 bytes",
	} {
		_, _, _, err := edgesFrom(t.Context(), text)
		assert.ErrorContains(t, err, says)
	}
}

// FuzzEdges feeds the reader anything: it gives a proper graph of named nodes, or an error that names the file.
func FuzzEdges(f *testing.F) {
	for _, seed := range []string{"a b\nb,c\n", "# x\n1\t2\n", "a b c", "a,,b", "\ufeffx y", "a \x00", "é ü\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, ids, _, err := edgesFrom(t.Context(), string(data))
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "f: "), err.Error())
			return
		}
		require.Len(t, ids, g.NumNodes())
		assert.True(t, g.IsSymmetric())
		seen := map[string]bool{}
		for _, id := range ids {
			assert.True(t, id != "" && utf8.ValidString(id) && !seen[id], "%q", id)
			seen[id] = true
		}
	})
}

func TestDialectsOfEdgesAreReadAndSaid(t *testing.T) {
	for text, want := range map[string]struct{ ids, notes []string }{
		"New York\tLos Angeles\n": {[]string{"New York", "Los Angeles"}, nil},
		"New York,Los Angeles\n":  {[]string{"New York", "Los Angeles"}, nil},
		"Doe, J.\tRoe, R.\n":      {[]string{"Doe, J.", "Roe, R."}, nil},
		"source,target\nb,c#1\n":  {[]string{"b", "c#1"}, []string{`line 1, "source,target", names the columns: it is no edge`}},
		"a b 0.5\nb a 1\n":        {[]string{"a", "b"}, []string{"2 lines have more than two columns, such as weights: those are left out"}},
		"a b {'weight': 1}\n":     {[]string{"a", "b"}, []string{"1 lines have more than two columns, such as weights: those are left out"}},
	} {
		_, ids, notes, err := edgesFrom(t.Context(), text)
		require.NoError(t, err, text)
		assert.Equal(t, want.ids, ids, text)
		assert.Equal(t, want.notes, notes, text)
	}
}
