package layerwise

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"nodemask/nmgnn/cached"
)

// setNames match the names of shards that say how many there are, such as edges-00000-of-00003.csv.
var setNames = regexp.MustCompile(`^(.*)-(\d{1,9})-of-(\d{1,9})(\.[^.]+)$`)

// set is files whose names say how many of them there are.
type set struct {
	folder, before, of, after string
	width                     int // of a shard's number, in digits
	files                     map[int]string
}

// checkSets returns an error unless files whose names say how many there are, are all there, and none is a copy of
// another.
func checkSets(paths []string) error {
	sets := map[string]*set{}
	for _, path := range paths {
		m := setNames.FindStringSubmatch(filepath.Base(path))
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[2]) // 9 digits at most
		of, _ := strconv.Atoi(m[3])
		if number >= of {
			return fmt.Errorf("%s: shard %d of %d: expected 0 to %d", path, number, of, of-1)
		}
		s := &set{filepath.Dir(path), m[1], m[3], m[4], len(m[2]), map[int]string{}}
		key := filepath.Join(s.folder, s.before+s.after)
		if sets[key] != nil {
			s = sets[key]
		}
		switch other := s.files[number]; {
		case s.of != m[3]:
			return fmt.Errorf("%s: a shard of %s, and %s is one of %s: remove those that do not belong here", path,
				m[3], s.name(slices.Min(slices.Collect(maps.Keys(s.files)))), s.of)
		case other != "":
			return fmt.Errorf("%s: the same shard as %s: remove one of them", path, other)
		}
		s.files[number] = path
		sets[key] = s
	}
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		if err := sets[key].check(); err != nil {
			return err
		}
	}
	return nil
}

// name is the path of a shard.
func (s *set) name(number int) string {
	return filepath.Join(s.folder, fmt.Sprintf("%s-%0*d-of-%s%s", s.before, s.width, number, s.of, s.after))
}

func (s *set) check() error {
	of, _ := strconv.Atoi(s.of)
	for number := range of {
		if s.files[number] == "" {
			return fmt.Errorf("%s: this shard is missing: %d of %d are there: expected all", s.name(number), len(s.files), of)
		}
	}
	alike := map[string][]string{} // by their size and how they begin
	for number := range of {
		path := s.files[number]
		begins, err := beginning(path)
		if err != nil {
			return err
		}
		for _, other := range alike[begins] {
			switch same, err := copied(path, other); {
			case err != nil:
				return err
			case same:
				return fmt.Errorf("%s: a copy of %s, byte for byte: expected shards that differ: write it again", path,
					filepath.Base(other))
			}
		}
		alike[begins] = append(alike[begins], path)
	}
	return nil
}

const compared = 1 << 16 // bytes at once

// beginning is a file's size, and a hash of its first bytes.
func beginning(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.CopyN(h, f, compared)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return fmt.Sprintf("%d %x", info.Size(), h.Sum(nil)), err
}

// copied reports whether two files that begin alike are the same throughout, and have rows: empty shards may well be
// alike.
func copied(a, b string) (bool, error) {
	if empty, err := hasNoRows(a); err != nil || empty {
		return false, err
	}
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	if this, err := x.Stat(); err == nil {
		if that, err := y.Stat(); err == nil && os.SameFile(this, that) {
			return true, nil
		}
	}
	one, two := make([]byte, compared), make([]byte, compared)
	for {
		n, err := io.ReadFull(x, one)
		m, err2 := io.ReadFull(y, two)
		if !bytes.Equal(one[:n], two[:m]) {
			return false, nil
		}
		if err != nil || err2 != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return true, nil
			}
			return false, errors.Join(err, err2)
		}
	}
}

// hasNoRows reports whether a file is one of CSV that has a header at most, or one of Parquet without rows. What is
// wrong with a file, reading it tells.
func hasNoRows(path string) (none bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	defer func() {
		if recover() != nil { // the library may panic over a damaged file
			none, err = false, nil
		}
	}()
	if isParquet(path) {
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err == nil && file.NumRows() == 0, nil
	}
	begin, err := io.ReadAll(io.LimitReader(f, compared))
	_, rest, _ := bytes.Cut(begin, []byte("\n"))
	return len(begin) < compared && len(bytes.TrimSpace(rest)) == 0, err
}

// checkColumns returns an error unless the features in files of nodes have the names that the model was trained with,
// in its order, where both have names.
func checkColumns(m *cached.Model, nodes []string) error {
	if m.FeatureNames == nil {
		return nil
	}
	for _, path := range nodes {
		header := cached.Header(path)
		if isParquet(path) {
			header = columnsOf(path)
		}
		if header == nil {
			continue // what is wrong, reading it tells
		}
		if err := m.Lacks(header, path); err != nil {
			return err
		}
		if names := cached.FeatureNames(header, m.Features); names != nil && !slices.Equal(names, m.FeatureNames) {
			return fmt.Errorf("%s: its features are in another order than the model was trained on: expected %.200q", path,
				m.FeatureNames)
		}
	}
	return nil
}

// columnsOf returns the names of the columns of a file of Parquet; nil if it cannot be read, or has a list for the
// features.
func columnsOf(path string) (names []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	defer func() {
		if recover() != nil { // the library may panic over a damaged file
			names = nil
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil
	}
	for _, field := range file.Schema().Fields() {
		if !field.Leaf() {
			return nil
		}
		names = append(names, field.Name())
	}
	return names
}
