// Package floors_test holds imports to ARCHITECTURE.md's floors: each package imports only those below it.
package floors_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
	"nodemask/paper/record"
)

const (
	module = "nodemask/"
	gomlx  = "github.com/gomlx/"
)

// forUsers lists what commands and notebooks may import.
var forUsers = []string{
	"csr", "plots", "stats", "internal/checkout", "datasets", "aggtree", "aggtree/draw", "aggtree/explorer",
	"nmgnn", "nmgnn/backend", "nmgnn/cached", "nmgnn/explain", "nmgnn/hyper", "nmgnn/infer",
	"nmgnn/internal/kernels", "nmgnn/onnx", "nmgnn/theorem", "nmgnn/train",
	"paper/record", "paper/measure", "advice", "paper", "paper/report",
	"paper/judge", "page",
}

// rooms lists what each package may import of this module, from the ground up. An unlisted package belongs to the room
// of the nearest listed folder above it: it may import that room's packages and their imports.
var rooms = map[string][]string{
	"csr":                nil,
	"plots":              {"internal/svg"},
	"stats":              {"internal/ended"},
	"internal/ended":     nil,
	"internal/svg":       nil,
	"internal/checkout":  nil,
	"internal/memory":    nil,
	"internal/wholefile": nil,
	"internal/gobuild":   {"internal/wholefile"},
	"internal/faults":    nil,

	"internal/browsertest":    nil,
	"scripts":                 nil,
	"scripts/build":           {"internal/gobuild"},
	"scripts/peers":           {"datasets"},
	"nmgnn/internal/gpucheck": {"datasets", "nmgnn", "nmgnn/backend", "nmgnn/hyper", "nmgnn/infer", "nmgnn/train"},

	"datasets": {"csr", "internal/ended", "internal/memory", "internal/wholefile"},

	"aggtree":          {"csr", "internal/ended"},
	"aggtree/draw":     {"aggtree", "csr", "internal/svg"},
	"aggtree/explorer": {"aggtree", "aggtree/draw", "csr", "internal/svg"},

	// The module's root, which no package here imports.
	".": {"aggtree", "aggtree/draw", "csr", "datasets", "internal/ended", "nmgnn", "nmgnn/backend", "nmgnn/cached", "nmgnn/hyper",
		"nmgnn/infer", "nmgnn/train"},

	"nmgnn/hyper":                  nil,
	"nmgnn/internal/kernels/fused": nil,
	"nmgnn/internal/gomlx":         nil,
	"nmgnn/internal/safetensors":   {"internal/wholefile"},
	"nmgnn/internal/kernels":       {"csr", "nmgnn/internal/gomlx", "nmgnn/internal/kernels/fused"},
	"nmgnn":                        {"csr", "datasets", "nmgnn/hyper", "nmgnn/internal/gomlx", "nmgnn/internal/kernels"},
	"nmgnn/backend": {"internal/wholefile", "internal/checkout", "nmgnn/internal/kernels/fused",
		"nmgnn/internal/gomlx", "nmgnn/internal/kernels"},
	"nmgnn/internal/gnntest": {"csr", "datasets", "nmgnn", "nmgnn/backend", "nmgnn/cached", "nmgnn/hyper", "nmgnn/infer",
		"nmgnn/internal/gomlx", "nmgnn/internal/kernels"},
	"nmgnn/gnn":   {"csr", "datasets", "nmgnn", "nmgnn/hyper", "nmgnn/internal/gomlx", "nmgnn/internal/kernels", "nmgnn/internal/kernels/fused"},
	"nmgnn/infer": {"csr", "datasets", "nmgnn", "nmgnn/backend", "nmgnn/hyper", "nmgnn/internal/gomlx", "nmgnn/internal/kernels"},
	"nmgnn/cached": {"csr", "datasets", "internal/ended", "nmgnn", "nmgnn/backend", "nmgnn/hyper", "nmgnn/infer",
		"nmgnn/internal/gomlx", "nmgnn/internal/safetensors", "nmgnn/internal/kernels"},
	"nmgnn/train": {"csr", "datasets", "internal/ended", "internal/memory", "nmgnn", "nmgnn/backend", "nmgnn/cached",
		"nmgnn/hyper", "nmgnn/infer", "nmgnn/internal/gomlx", "nmgnn/internal/kernels",
		"nmgnn/internal/safetensors", "stats"},
	"nmgnn/explain": {"aggtree", "aggtree/draw", "csr", "datasets", "internal/ended", "internal/memory", "nmgnn/backend", "nmgnn/cached",
		"nmgnn/hyper", "nmgnn/infer", "internal/svg", "plots"},
	"nmgnn/theorem": {"aggtree", "datasets", "internal/ended", "internal/memory", "nmgnn", "nmgnn/backend", "nmgnn/hyper",
		"nmgnn/infer"},
	beam: {"csr", "datasets", "internal/ended", "internal/wholefile", "nmgnn",
		"nmgnn/backend", "nmgnn/cached", "nmgnn/infer", "nmgnn/internal/gomlx", "nmgnn/internal/safetensors"},
	"nmgnn/onnx": {"internal/wholefile", "nmgnn", "nmgnn/cached", "nmgnn/hyper", "nmgnn/infer", "nmgnn/internal/gomlx"},

	"nb/worker":            {"advice", "datasets", "internal/gobuild", "plots", "paper/record"},
	"nb/internal/notebook": {"nmgnn/hyper", "plots"},

	"paper/record":     {"datasets", "nmgnn/hyper", "stats"},
	"paper/recordtest": {"datasets", "nmgnn/hyper", "paper/record"},
	"paper/measure":    {"datasets", "internal/memory", "nmgnn/backend", "nmgnn/hyper", "nmgnn/train", "paper/record"},

	"paper":  {"datasets", "nmgnn/hyper", "paper/record"},
	"advice": {"datasets", "nmgnn/hyper", "paper/judge", "plots", "paper/record", "stats"},

	"paper/judge": {"datasets", "nmgnn/hyper", "paper", "paper/record", "stats"},
	"paper/report": {"csr", "datasets", "internal/wholefile", "nmgnn/hyper", "paper/judge",
		"paper", "plots", "paper/record", "stats"},

	"page": {"aggtree/explorer", "datasets", "internal/checkout", "internal/gobuild", "internal/wholefile",
		"nmgnn/backend", "nmgnn/cached", "nmgnn/explain", "nmgnn/hyper", "nmgnn/train", "advice",
		"paper/report", "paper/judge", "paper", "plots", "paper/record",
		"paper/measure", "stats"},

	"nb": append([]string{"nb/internal/notebook", "nb/worker"}, forUsers...),
	"cmd": append([]string{"internal/memory", "internal/svg",
		"internal/wholefile", "nb/worker"}, forUsers...),
	"notebooks": {"nb"},
}

type goPackage struct {
	ImportPath, Dir string
	Imports, Deps   []string
}

const beam = "nmgnn/beam"

func listed(t *testing.T) map[string]goPackage { return listedIn(t, ".") }

func listedIn(t *testing.T, folder string) map[string]goPackage {
	t.Helper()
	root, err := checkout.Root()
	require.NoError(t, err)
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,Deps", "./...")
	list.Dir, list.Stderr = filepath.Join(root, folder), os.Stderr
	output, err := list.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		// Reading the folder makes cached results of this test depend on it.
		_, err := os.ReadDir(p.Dir)
		require.NoError(t, err)
		folder, err := filepath.Rel(root, p.Dir)
		require.NoError(t, err)
		packages[filepath.ToSlash(folder)] = p
	}
	require.NotEmpty(t, packages)
	return packages
}

// roomOf returns the nearest folder in the table, upwards; "" if there is none.
func roomOf(folder string) string {
	if folder == "." {
		return folder
	}
	for folder != "." {
		if _, ok := rooms[folder]; ok {
			return folder
		}
		folder = filepath.ToSlash(filepath.Dir(folder))
	}
	return ""
}

func TestEachPackageImportsOnlyTheFloorsBelowIt(t *testing.T) {
	packages := listed(t)
	for folder, p := range packages {
		assert.NotContains(t, strings.Join(p.Imports, " "), "github.com/apache/beam", folder)
	}
	maps.Copy(packages, listedIn(t, beam))
	for folder, p := range packages {
		if folder == "internal/floors" {
			continue
		}
		room := roomOf(folder)
		if !assert.NotEmpty(t, room, "%s: say here what it may import", folder) {
			continue
		}
		for _, path := range p.Imports {
			own, ok := strings.CutPrefix(path, module)
			if path+"/" == module {
				own, ok = ".", true
			}
			if !ok {
				continue
			}
			below := roomOf(own)
			assert.True(t, below == room || slices.Contains(rooms[room], below), "%s imports %s: %s may import %v", folder, own,
				room, rooms[room])
		}
	}
}

var architectureRow = regexp.MustCompile("(?m)^\\| [0-5] \\| `([^`]+?)/?` \\|")

func TestAFolderImportsOnlyWhatArchitectureListsBelowIt(t *testing.T) {
	packages := listed(t)
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	rows := map[string]int{}
	for _, row := range architectureRow.FindAllStringSubmatch(string(page), -1) {
		require.NotContains(t, rows, row[1], "listed twice")
		rows[row[1]] = len(rows)
	}
	require.Greater(t, len(rows), 40)
	rowOf := func(folder string) (row int, ok bool) {
		for row, ok = rows[folder]; !ok && strings.Contains(folder, "/"); row, ok = rows[folder] {
			folder = filepath.ToSlash(filepath.Dir(folder))
		}
		return row, ok
	}
	for folder, p := range packages {
		row, ok := rowOf(folder)
		for _, path := range p.Imports {
			own, is := strings.CutPrefix(path, module)
			if below, listed := rowOf(own); ok && is && listed {
				assert.GreaterOrEqual(t, below, row, "%s imports %s, which ARCHITECTURE.md lists above it", folder, own)
			}
		}
	}
}

func TestTheTableOfRoomsHasNoCycle(t *testing.T) {
	var visit func(room string, above []string)
	visit = func(room string, above []string) {
		require.NotContains(t, above, room, "%v, and %s again", above, room)
		for _, below := range rooms[room] {
			require.Contains(t, rooms, below)
			visit(below, append(slices.Clone(above), room))
		}
	}
	for room := range rooms {
		visit(room, nil)
	}
}

func TestLayersAreReachedWithoutPaperRecordsOrTrees(t *testing.T) {
	deps := listed(t)["nmgnn"].Deps
	require.Contains(t, deps, module+"nmgnn/internal/kernels")
	for _, high := range []string{"aggtree", "paper/report", "paper/record", "stats", "plots"} {
		for _, dep := range deps {
			assert.False(t, dep == module+high || strings.HasPrefix(dep, module+high+"/"), "nmgnn depends on %s", dep)
		}
	}
}

func TestWhatComputesNothingNeedsNoGoMLX(t *testing.T) {
	packages := listed(t)
	reaches := func(folder string) (found []string) {
		require.Contains(t, packages, folder)
		for _, dep := range packages[folder].Deps {
			if strings.HasPrefix(dep, gomlx) {
				found = append(found, dep)
			}
		}
		return found
	}
	require.NotEmpty(t, reaches("nmgnn"))
	for _, folder := range []string{"csr", "plots", "stats", "datasets", "aggtree", "nmgnn/hyper", "paper/record",
		"paper/report"} {
		assert.Empty(t, reaches(folder), folder)
	}
}

// linked adds the folders of the modules that packages link.
func linked(t *testing.T, folders map[string]string, root string, environment []string, packages ...string) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"}, packages...)...)
	list.Dir, list.Env, list.Stderr = root, append(os.Environ(), environment...), os.Stderr
	output, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(output)) {
		if path, folder, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
			folders[path] = folder
		}
	}
}

func TestThirdPartiesAreListedWithTheirLicences(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	folders := map[string]string{}
	linked(t, folders, root, []string{"CGO_ENABLED=1"}, "./cmd/nodemask")
	linked(t, folders, root, []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, "./cmd/nodemask-wasm")
	linked(t, folders, root, nil, "./nb", "./nb/incell")
	page, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY.md"))
	require.NoError(t, err)
	words := func(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }
	table, texts, found := strings.Cut(string(page), "\n## The texts\n")
	require.True(t, found)
	texts = words([]byte(texts))
	for path, folder := range folders {
		assert.Contains(t, table, "| "+path, "linked, and not in THIRD_PARTY.md: 'make third-party' writes it")
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, file := range files {
			switch strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(file.Name(), ".txt"), ".md")) {
			case "LICENSE", "LICENCE", "COPYING":
				text, err := os.ReadFile(filepath.Join(folder, file.Name()))
				require.NoError(t, err)
				assert.True(t, strings.Contains(texts, words(text)),
					"the licence of %s is not in THIRD_PARTY.md: 'make third-party' writes it", path)
			}
		}
	}
	for line := range strings.Lines(table) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " ")
		if !strings.HasPrefix(line, "| ") || !strings.Contains(name, "/") {
			continue
		}
		is := false
		for path := range folders {
			is = is || name == path || strings.HasPrefix(name, path+"/")
		}
		assert.True(t, is, "%s is in THIRD_PARTY.md, and not linked: 'make third-party' writes it", name)
	}
}

func number(t *testing.T, version string) []int {
	t.Helper()
	var parts []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		require.NoError(t, err, "the version %q", version)
		parts = append(parts, n)
	}
	require.Len(t, parts, 3, "the version %q", version)
	return parts
}

func TestVersionsAgreeEverywhere(t *testing.T) {
	root, err := checkout.Root()
	require.NoError(t, err)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(text)
	}
	var listed []string
	for _, found := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(read("CHANGELOG.md"), -1) {
		listed = append(listed, found[1])
	}
	require.NotEmpty(t, listed)
	for i, version := range listed[1:] {
		require.Positive(t, slices.Compare(number(t, listed[i]), number(t, version)), "CHANGELOG.md has %s above %s",
			listed[i], version)
	}
	require.True(t, strings.HasPrefix(record.Version(), "nodemask "+listed[0]+" ("),
		"CHANGELOG.md begins with %s, and the program is %s", listed[0], record.Version())
	require.Contains(t, read("CITATION.cff"), "\nversion: "+listed[0]+"\n")
	// Versions are tags. A clone may lack tags or git; the current version has no tag yet.
	tags, err := exec.Command("git", "-C", root, "tag", "--list", "v*").Output()
	if err != nil {
		t.Logf("tags are not checked: %v", err)
	}
	for tag := range strings.FieldsSeq(string(tags)) {
		require.Contains(t, listed, strings.TrimPrefix(tag, "v"), "CHANGELOG.md lacks what the tag %s has", tag)
	}
}
