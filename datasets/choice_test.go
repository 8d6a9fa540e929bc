package datasets

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheClassesAreWhereTheUserSays(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		return filepath.Join(dir, name)
	}
	file(csvNodesFile, "id,club,y\na,Hi,1\nb,Officer,2\n")
	file(csvEdgesFile, "source,target\na,b\n")
	json := file("g.json", `{"nodes":[{"id":"a","club":"Hi","y":1},{"id":"b","club":"Officer","y":2}],"links":[]}`)
	for _, path := range []string{dir, json} {
		g, err := Open(t.Context(), path+":label=club", OpenOptions{})
		require.NoError(t, err, path)
		require.Equal(t, []string{"Hi", "Officer"}, g.Classes)
		require.Empty(t, g.FeatureNames, "a second class is no feature")
		require.Contains(t, g.Notes[0], `"y": left out: the class is "club", and a second one would tell it`)
		_, err = Open(t.Context(), path+":label=team", OpenOptions{})
		require.ErrorContains(t, err, `"team"`)
	}
	for choice, says := range map[string]string{":label=": "expected label=NAME", ":mask=1": "of a .pt, .npz or .json file",
		":k=1": "expected label=NAME"} {
		_, err := Open(t.Context(), dir+choice, OpenOptions{})
		require.ErrorContains(t, err, says)
	}
	_, err := Open(t.Context(), filepath.Join("testdata", "formats", "ogb")+":label=y", OpenOptions{})
	require.ErrorContains(t, err, "nothing can be chosen in a folder of the Open Graph Benchmark")
	at, err := Locate(json+":label=club", OpenOptions{})
	require.NoError(t, err)
	require.Equal(t, json, at.Path, "commands keep from writing over it")
}

// The masks are views of one storage, 0 1 2 3 4 5 6 0 1 2 3 0 5 6 4 1 …, with a step of 1 between columns.
func TestOfSeveralSplitsAnyIsTaken(t *testing.T) {
	field := func(name, view string) string {
		return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(name)))) + name +
			"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nLongStorage\nX\x01\x00\x00\x001X\x03\x00" +
			"\x00\x00cpuK\x1etQ" + view + "\x89ccollections\nOrderedDict\n)RtR"
	}
	path := filepath.Join(t.TempDir(), "a.pt")
	require.NoError(t, os.WriteFile(path, withPickle(t, []byte("\x80\x02}("+
		field("edge_index", "K\x00K\x02K\x01\x86K\x01K\x01\x86")+
		field("kind", "K\x01K\x03\x85K\x01\x85")+ // 1 2 3
		field("train_mask", "K\x02K\x03K\x02\x86K\x04K\x01\x86")+ // column 1: 3 0 0
		field("val_mask", "K\x06K\x03K\x02\x86K\x02K\x01\x86")+ // 0 2 0
		field("test_mask", "K\x06K\x03K\x02\x86K\x04K\x01\x86")+"u.")), 0o600)) // 0 0 1
	g, err := Open(t.Context(), path+":mask=1,label=kind", OpenOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, g.Classes)
	require.NotNil(t, g.OwnSplit)
	require.Equal(t, [][]int32{{0}, {1}, {2}}, [][]int32{g.OwnSplit.Train, g.OwnSplit.Validation, g.OwnSplit.Test})
	_, err = Open(t.Context(), path+":label=kind,mask=2", OpenOptions{})
	require.ErrorContains(t, err, `field "test_mask" has 2 columns, a split each: expected mask=0 to mask=1, not mask=2`)
}
