package layerwise

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
)

// Input lists a graph's CSV files, readable by every worker, with the columns of datasets.Open.
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
	for _, pattern := range []string{".csv", "-*.csv"} {
		found, err := fs.Glob(os.DirFS(folder), name+pattern)
		switch {
		case err != nil:
			return nil, err
		case len(found) > 0 && len(all) > 0:
			return nil, fmt.Errorf("%s: both %s and %s: expected one of them", folder, filepath.Base(all[0]), found[0])
		}
		for _, file := range found {
			all = append(all, filepath.Join(folder, file))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no %[2]s.csv and no %[2]s-….csv there: expected one of them", folder, name)
	}
	return checked(all)
}

// Expand returns the sorted absolute paths that match a pattern such as nodes-*.csv. It returns an error for no match,
// files that are not CSV, and incomplete or copied shards like edges-00000-of-00003.csv.
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
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe waits for a writer
			return nil, fmt.Errorf("%s: a folder, pipe or device: expected a file", path)
		}
	}
	return paths, checkSets(paths)
}

var setNames = regexp.MustCompile(`^(.*)-(\d{1,9})-of-(\d{1,9})(\.[^.]+)$`)

func checkSets(paths []string) error {
	type set struct {
		first []string // its first file, and the match of setNames
		files map[int]string
	}
	sets := map[string]*set{}
	var names []string
	for _, path := range paths {
		m := setNames.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[2]) // at most 9 digits
		of, _ := strconv.Atoi(m[3])
		s := sets[m[1]+m[4]]
		if s == nil {
			s = &set{m, map[int]string{}}
			sets[m[1]+m[4]], names = s, append(names, m[1]+m[4])
		}
		switch other := s.files[number]; {
		case number >= of:
			return fmt.Errorf("%s: shard %d of %d: expected 0 to %d", path, number, of, of-1)
		case s.first[3] != m[3]:
			return fmt.Errorf("%s: a shard of %s, and %s is one of %s: remove those that do not belong here", path, m[3],
				s.first[0], s.first[3])
		case other != "":
			return fmt.Errorf("%s: the same shard as %s: remove one of them", path, other)
		}
		s.files[number] = path
	}
	for _, name := range names {
		s, m := sets[name], sets[name].first
		of, _ := strconv.Atoi(m[3])
		all := make([]string, 0, len(s.files))
		for number := range of {
			if s.files[number] == "" {
				return fmt.Errorf("%s-%0*d-of-%s%s: this shard is missing: %d of %d are there: expected all", m[1], len(m[2]),
					number, m[3], m[4], len(s.files), of)
			}
			all = append(all, s.files[number])
		}
		if err := checkCopies(all); err != nil {
			return err
		}
	}
	return nil
}

// checkCopies returns an error if two files with rows are equal.
func checkCopies(paths []string) error {
	alike := map[int64][]string{} // files by size: only those of equal size are read
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		alike[info.Size()] = append(alike[info.Size()], path)
	}
	for _, size := range slices.Sorted(maps.Keys(alike)) {
		seen := map[[sha256.Size]byte]string{}
		for _, path := range alike[size] {
			if len(alike[size]) == 1 || empty(path) {
				continue
			}
			sum, err := hashOf(path)
			if err != nil {
				return err
			}
			if seen[sum] != "" {
				return fmt.Errorf("%s: a copy of %s, byte for byte: expected shards that differ: write it again", path,
					filepath.Base(seen[sum]))
			}
			seen[sum] = path
		}
	}
	return nil
}

func hashOf(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// empty reports whether a file is readable, as nodes or edges, but has no rows.
func empty(path string) bool {
	found, ctx := errors.New("a row"), context.Background() // reading one row takes no time
	nodes := scanNodes(ctx, path, func(_, _ []byte, _ []float32) error { return found })
	edges := scanEdges(ctx, path, func(_, _ []byte) error { return found })
	return nodes == nil || edges == nil
}

// checkColumns checks that feature names are the model's, in order, if both have names.
func checkColumns(ctx context.Context, m *cached.Model, nodes []string) error {
	if m.FeatureNames == nil {
		return nil
	}
	for _, path := range nodes {
		columns := datasets.FeatureColumns(ctx, path)
		if columns == nil {
			continue // reading it later reports the error
		}
		if err := m.Lacks(columns, path); err != nil {
			return err
		}
		if names := m.FeaturesIn(columns); names != nil && !slices.Equal(names, m.FeatureNames) {
			return fmt.Errorf("%s: its features are in another order than the model was trained on: expected %.200q", path,
				m.FeatureNames)
		}
	}
	return nil
}

// scanNodes overwrites the slices with each call.
func scanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	return datasets.ScanNodes(ctx, path, each)
}

func scanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	return datasets.ScanEdges(ctx, path, each)
}
