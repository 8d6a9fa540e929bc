package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tailedTriangle writes a file of edges: the triangle ann, bob, cy, and dot at cy.
func tailedTriangle(t *testing.T) string {
	t.Helper()
	return put(t, t.TempDir(), "edges.txt", "# who knows whom\nann bob\nbob,cy\n\ncy\tann\ncy dot\n")
}

func TestTreeDrawsAUsersOwnGraphByItsNames(t *testing.T) {
	out, _ := succeeds(t, "tree", "--data", tailedTriangle(t), "--root", "dot")
	assert.Equal(t, "dot\n└─ cy\n   ├─ ann\n   ├─ bob\n   └─ dot\n", out)
	out, _ = succeeds(t, "tree", "--data", tailedTriangle(t), "--root", "dot", "--mask", "dot,ann")
	assert.Equal(t, "dot (masked, but the root)\n└─ cy\n   ├╌ ann (masked)\n   ├─ bob\n   └╌ dot "+
		"(masked)\n", out)
}

func TestTheEndingOfItsFileSaysInWhichFormatATreeIsWritten(t *testing.T) {
	for name, begins := range map[string]string{"t.txt": "0\n", "t.svg": "<svg ", "t.SVG": "<svg ", "t.html": "<!DOCTYPE html>"} {
		file := filepath.Join(t.TempDir(), name)
		succeeds(t, "tree", "--data", "cora", "--root", "0", "-o", file)
		require.True(t, strings.HasPrefix(fileText(t, file), begins), name)
	}
	refuses(t, []string{"tree", "--data", "cora", "--root", "0"}, map[string][]string{
		"t.log: expected a name that ends in .txt or .svg or .html":   {"-o", "t.log"},
		"t.svg: --check and --count write text only: expected a name": {"--check", "-o", "t.svg"},
		"--cached and --output t.html":                                {"--cached", "-o", "t.html"},
		"--hops 11: expected at most 10 in a page":                    {"--hops", "11", "-o", "t.html"},
	})
}

func TestCountSaysHowLargeATreeIsThatIsTooLargeToBuild(t *testing.T) {
	out, _ := succeeds(t, "tree", "--data", tailedTriangle(t), "--root", "dot", "--count", "--hops", "3")
	assert.Equal(t, "depth 0  1\ndepth 1  1\ndepth 2  3\ndepth 3  5\nin all   10\n", out)
	out, _ = succeeds(t, "tree", "--data", "cora", "--root", "1358", "--count", "--hops", "60")
	assert.Contains(t, out, "in all   at least 18446744073709551615\n")
	assert.Equal(t, "nodemask: the 3-aggregation tree of node 3 has 10 nodes, but the limit is 9: ask for fewer "+
		"hops, mask nodes, or raise the limit\n",
		fails(t, 1, "", "tree", "--data", tailedTriangle(t), "--root", "dot", "--hops", "3", "--limit", "9"))
}

func TestCheckVerifiesTheDefinitionTheLemmasAndTheTheorem(t *testing.T) {
	for _, args := range [][]string{
		{"--data", tailedTriangle(t), "--root", "dot", "--hops", "3"},
		{"--data", "cora", "--root", "5", "--keep-rate", "0.5", "--seed", "3"},
	} {
		out, _ := succeeds(t, append([]string{"tree", "--check"}, args...)...)
		assert.Contains(t, out, "its paths are the graph's walks, and lemmas 1 and 2 hold\n")
		assert.Contains(t, out, "theorem 1 holds: untrained networks of ")
	}
	out, _ := succeeds(t, "tree", "--check", "--data", "cora", "--root", "5", "--cached")
	assert.Contains(t, out, "lemmas 1 and 2 hold\n")
	assert.NotContains(t, out, "theorem", "a cached tree gives an approximation")
}

func TestARootMayBeAnIDOfTheGraphsFile(t *testing.T) {
	folder := graphFolder(t, "ids", "id,label,x\nn1,a,1\nn5,b,2\nn7,a,3\n", "source,target\nn1,n5\nn5,n7\n")
	var trees []string
	for _, root := range []string{"n5", "1"} {
		out, _ := succeeds(t, "tree", "--data", folder, "--root", root, "--mask", "n7")
		trees = append(trees, out)
	}
	require.Equal(t, "1\n├─ 0\n", trees[1][:len("1\n├─ 0\n")])
	require.Equal(t, "n5\n├─ n1\n", trees[0][:len("n5\n├─ n1\n")], "whoever asks by an id is answered in ids")
	fails(t, 2, "0 to 2, or an id of its file", "tree", "--data", folder, "--root", "n6")
}

func TestAnIDComesBeforeANumberAndANoteNamesTheOtherNode(t *testing.T) {
	folder := graphFolder(t, "ids", "id,label,x\n1,a,1\n5,b,2\n2,a,3\n7,b,4\n", "source,target\n1,5\n5,2\n2,7\n")
	for _, c := range []struct{ root, tree, says string }{
		{"1", "1\n└─ 5\n", "--root 1: this is the id of node number 0, which is taken; the node with number 1 has the id 5: " +
			"write --root 5 for it\n"},
		{"2", "2\n├─ 5\n└─ 7\n", ""}, // its own number
		{"7", "7\n└─ 2\n", ""},
		{"0", "0\n└─ 1\n", ""}, // no id, so a number, and answered in numbers
	} {
		out, notes := succeeds(t, "tree", "--data", folder, "--hops", "1", "--root", c.root)
		require.Equal(t, c.tree, out, c.root)
		require.Equal(t, c.says, notes, c.root)
	}
	out, notes := succeeds(t, "tree", "--data", folder, "--hops", "1", "--root", "0", "--mask", "1,5")
	require.Equal(t, "0 (masked, but the root)\n└╌ 1 (masked)\n", out)
	require.Contains(t, notes, "--mask 1: this is the id of node number 0")
	_, notes = succeeds(t, "tree", "--data", "cora", "--root", "5", "--hops", "1")
	require.Empty(t, notes, "the documents ask for this one by its number")
	out, notes = succeeds(t, "tree", "--data", "cora", "--root", "35", "--hops", "0")
	require.Equal(t, "35\n", out)
	require.Contains(t, notes, "--root 35: this is the id of node number 163")
}

func TestTreeExitsTwoForMisuseOneForFailure(t *testing.T) {
	bad := put(t, t.TempDir(), "bad.txt", "a b\n,b\n")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--data", "cora"}, 2, `required flag(s) "root" not set`},
		{[]string{"--data", "cora", "--root", "2708"}, 2, "expected a node of cora, 0 to 2707"},
		{[]string{"--data", "nowhere", "--root", "1"}, 2, "nowhere"},
		{[]string{"--data", "cora", "--root", "1", "--hops", "-1"}, 1, "-1 hops: expected between 0 and 1000"},
		{[]string{"--data", "cora", "--root", "1", "--mask", "3", "--keep-rate", "0.5"}, 2, "[keep-rate mask] were all set"},
		{[]string{"--data", "cora", "--root", "1", "--keep-rate", "0"}, 2,
			"--keep-rate: keep rate 0: expected a probability"},
		{[]string{"--data", "cora", "--root", "1", "--check", "--count"}, 2, "[check count] were all set"},
		{[]string{"--data", bad, "--root", "a"}, 1, "bad.txt: line 2: found \",b\": expected two ids"},
		{[]string{"--data", tailedTriangle(t), "--root", "eve"}, 2, "expected a node of"},
		{[]string{"--data", filepath.Join(t.TempDir(), "none"), "--root", "a"}, 1, "no such file"},
	} {
		stderr := fails(t, c.code, c.says, append([]string{"tree"}, c.args...)...)
		assert.Equal(t, 1, strings.Count(strings.TrimSpace(stderr), "\n")+1, stderr)
	}
}

func TestTreeWritesAnInteractivePageWithTheWholeOfCora(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tree.html")
	out, _ := succeeds(t, "tree", "--data", "cora", "--root", "0", "--keep-rate", "0.8", "-o", file)
	assert.Empty(t, out)
	page := fileText(t, file)
	assert.Contains(t, page, `"nodes":2708,"entries":10556,`)
	assert.Contains(t, page, `"keepRate":0.8,"seed":"1"`)
	assert.Contains(t, page, `"classes":["Case_Based",`)
	assert.Less(t, len(page), 200_000)
}
