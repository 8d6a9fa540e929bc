package layerwise

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
)

// Input lists the paths of a graph's CSV files, whose columns are those that datasets.Open reads. Every worker must be
// able to read them.
type Input struct{ Nodes, Edges []string }

// Find returns a graph's files in a folder: nodes.csv and edges.csv, or shards nodes-….csv and edges-….csv. Missing or
// ambiguous files are errors; see [Expand].
func Find(folder string) (in Input, err error) {
	if in.Nodes, err = find(folder, "nodes"); err == nil {
		in.Edges, err = find(folder, "edges")
	}
	return in, err
}

func find(folder, name string) (all []string, err error) {
	var found [2][]string
	for i, pattern := range []string{".csv", "-*.csv"} {
		if found[i], err = fs.Glob(os.DirFS(folder), name+pattern); err != nil {
			return nil, err
		}
	}
	if (len(found[0]) > 0) == (len(found[1]) > 0) {
		return nil, fmt.Errorf("%s: %d files %[3]s.csv and %[4]d %[3]s-….csv: expected one of the two kinds", folder,
			len(found[0]), name, len(found[1]))
	}
	for _, file := range slices.Concat(found[:]...) {
		all = append(all, filepath.Join(folder, file))
	}
	return checked(all)
}

// Expand returns the sorted absolute paths that match a pattern such as nodes-*.csv. It returns an error if no path
// matches, if a file is not CSV, or if a shard like edges-00000-of-00003.csv is missing or repeated.
func Expand(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no such file", pattern)
	}
	return checked(found)
}

func checked(paths []string) (_ []string, err error) {
	for i, path := range paths {
		if extension := strings.ToLower(filepath.Ext(path)); extension != ".csv" {
			return nil, fmt.Errorf("%s: a name that ends in %q: expected .csv", path, extension)
		}
		if paths[i], err = filepath.Abs(path); err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would block
			return nil, fmt.Errorf("%s: a folder, pipe or device: expected a file", path)
		}
	}
	return paths, checkSets(paths)
}

var setNames = regexp.MustCompile(`^(.*)-(\d{1,9})-of-(\d{1,9})(\.[^.]+)$`)

func checkSets(paths []string) error {
	// The keys of both maps are file names without parts like -00000-of-00003.
	counts, shards := map[string]int{}, map[string]map[int]string{}
	for _, path := range paths {
		m := setNames.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[2])
		count, _ := strconv.Atoi(m[3])
		set := m[1] + m[4]
		if shards[set] == nil {
			counts[set], shards[set] = count, map[int]string{}
		}
		switch other := shards[set][number]; {
		case number >= count || count != counts[set]:
			return fmt.Errorf("%s: shard %d of %d: expected 0 to %d of %d", path, number, count, counts[set]-1, counts[set])
		case other != "":
			return fmt.Errorf("%s: the same shard as %s: remove one of them", path, other)
		}
		shards[set][number] = path
	}
	for set, there := range shards {
		for number := range counts[set] {
			if there[number] == "" {
				return fmt.Errorf("%s: shard %d of %d is missing: %d are there: expected all", set, number, counts[set],
					len(there))
			}
		}
	}
	return nil
}

// checkColumns returns an error if a file's feature names or their order differ from the model's.
func checkColumns(ctx context.Context, m *cached.Model, nodes []string) error {
	if m.FeatureNames == nil {
		return nil
	}
	for _, path := range nodes {
		columns := datasets.FeatureColumns(ctx, path)
		if columns == nil {
			continue
		}
		if err := m.Lacks(columns, path); err != nil {
			return err
		}
		if !slices.Equal(columns, m.FeatureNames) {
			return fmt.Errorf("%s: its features are in another order than the model was trained on: expected %.200q", path,
				m.FeatureNames)
		}
	}
	return nil
}
