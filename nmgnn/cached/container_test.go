package cached

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// smallContainer has a section of each type, and one with nothing in it.
func smallContainer(t require.TestingT) *container {
	c, err := newContainer(kindModel, map[string]any{"layer": "GIN", "width": 2})
	require.NoError(t, err)
	c.putFloats("w", []float32{1, -2.5, float32(math.Inf(1))})
	c.putInts("i", []int32{-1, math.MaxInt32})
	c.putLongs("l", []int64{math.MinInt64})
	c.putStrings("classes", []string{"Neural Networks", "", "Théorie"})
	c.putFloats("empty", nil)
	return c
}

func containerBytes(t require.TestingT, c *container) []byte {
	var b bytes.Buffer
	require.NoError(t, c.write(&b))
	return b.Bytes()
}

func parseBytes(b []byte, kind string) (*container, error) {
	return parseContainer(bytes.NewReader(b), int64(len(b)), "file.model", kind)
}

func TestContainerReturnsWhatWasPut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gin.model")
	require.NoError(t, smallContainer(t).writeFile(path))
	read, err := readContainer(path, kindModel)
	require.NoError(t, err)
	for _, c := range []*container{smallContainer(t), read} {
		floats, err := c.floats("w")
		require.NoError(t, err)
		require.Equal(t, []float32{1, -2.5, float32(math.Inf(1))}, floats)
		ints, err := c.ints("i")
		require.NoError(t, err)
		require.Equal(t, []int32{-1, math.MaxInt32}, ints)
		longs, err := c.longs("l")
		require.NoError(t, err)
		require.Equal(t, []int64{math.MinInt64}, longs)
		texts, err := c.strings("classes")
		require.NoError(t, err)
		require.Equal(t, []string{"Neural Networks", "", "Théorie"}, texts)
		empty, err := c.floats("empty")
		require.NoError(t, err)
		require.Empty(t, empty)

		var meta struct{ Layer string }
		require.NoError(t, c.decodeMeta(&meta))
		require.Equal(t, "GIN", meta.Layer)
	}
}

func TestContainerSurvivesWritingAndReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{kindModel, kindCache}).Draw(t, "kind")
		meta := rapid.MapOf(rapid.String(), rapid.Int32()).Draw(t, "meta")
		c, err := newContainer(kind, meta)
		require.NoError(t, err)
		names := rapid.SliceOfNDistinct(rapid.StringN(1, 20, -1), 0, 6, rapid.ID[string]).Draw(t, "names")
		want := map[string]any{}
		for _, name := range names {
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				bits := rapid.SliceOf(rapid.Uint32()).Draw(t, "bits") // NaNs keep theirs
				data := make([]float32, len(bits))
				for i, b := range bits {
					data[i] = math.Float32frombits(b)
				}
				c.putFloats(name, data)
				want[name] = bits
			case 1:
				data := rapid.SliceOf(rapid.Int32()).Draw(t, "ints")
				c.putInts(name, data)
				want[name] = data
			case 2:
				data := rapid.SliceOf(rapid.Int64()).Draw(t, "longs")
				c.putLongs(name, data)
				want[name] = data
			case 3:
				data := rapid.SliceOf(rapid.String()).Draw(t, "texts")
				c.putStrings(name, data)
				want[name] = data
			}
		}
		b := containerBytes(t, c)
		require.Equal(t, b, containerBytes(t, c), "the same bytes each time")
		read, err := parseBytes(b, kind)
		require.NoError(t, err)
		require.Equal(t, b, containerBytes(t, read), "what is read writes as it was")

		got := map[string]int32{}
		require.NoError(t, read.decodeMeta(&got))
		require.Equal(t, meta, got)
		for name, want := range want {
			var got any
			switch want.(type) {
			case []uint32:
				data, e := read.floats(name)
				bits := make([]uint32, len(data))
				for i, x := range data {
					bits[i] = math.Float32bits(x)
				}
				got, err = bits, e
			case []int32:
				got, err = read.ints(name)
			case []int64:
				got, err = read.longs(name)
			case []string:
				got, err = read.strings(name)
			}
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

func TestContainerLongerThanAnyBufferSurvives(t *testing.T) {
	longs := make([]int64, 100_001)
	texts := make([]string, len(longs))
	for i := range longs {
		longs[i], texts[i] = int64(i)*1e10, fmt.Sprint(i)
	}
	c, err := newContainer(kindCache, nil)
	require.NoError(t, err)
	c.putStrings("texts", texts)
	c.putLongs("longs", longs)
	read, err := parseBytes(containerBytes(t, c), kindCache)
	require.NoError(t, err)
	gotTexts, err := read.strings("texts")
	require.NoError(t, err)
	require.Equal(t, texts, gotTexts)
	gotLongs, err := read.longs("longs")
	require.NoError(t, err)
	require.Equal(t, longs, gotLongs)
}

func TestContainerWithoutSectionsIsFine(t *testing.T) {
	c, err := newContainer(kindCache, nil)
	require.NoError(t, err)
	read, err := parseBytes(containerBytes(t, c), kindCache)
	require.NoError(t, err)
	require.Empty(t, read.sections)
}

// The format is fixed: files outlive the nodemask that wrote them.
func TestContainerBytesAreThese(t *testing.T) {
	c, err := newContainer(kindModel, []int{1})
	require.NoError(t, err)
	c.putInts("i", []int32{1})
	c.putStrings("s", []string{"ab", "c"})
	header := `{"kind":"model","meta":[1],"sections":[{"name":"i","type":"int32","rows":1},{"name":"s","type":"text","rows":2,"bytes":3}]}`
	require.Equal(t, assemble(header, []byte("\x01\x00\x00\x00\x00\x00\x00\x00"+"\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00abc\x00\x00\x00\x00\x00")), containerBytes(t, c))
}

func TestSectionsAreReadInPlaceWhereTheyCanBe(t *testing.T) {
	raw := []byte{9, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}
	for shift := range 4 {
		memory := make([]byte, 64)
		b := memory[shift:][:len(raw)]
		copy(b, raw)
		require.Equal(t, []int32{1, 2, 3}, viewNumbers[int32](b[1:]))
		if littleEndian && shift == 3 {
			view := viewNumbers[int32](b[1:])
			b[1] = 7
			require.EqualValues(t, 7, view[0])
		}
	}
}

func TestContainerRefusesWhatItCouldNotReadBack(t *testing.T) {
	_, err := newContainer("graph", nil)
	require.ErrorContains(t, err, `a container of kind "graph": expected "model" or "cache"`)
	_, err = newContainer(kindModel, math.NaN())
	require.ErrorContains(t, err, "the description of a model")
	for want, put := range map[string]func(c *container){
		`two sections are called "w"`:                                     func(c *container) { c.putLongs("w", nil) },
		`a section is called "": expected a name`:                         func(c *container) { c.putInts("", nil) },
		`a section is called "\xff": expected a name in UTF-8`:            func(c *container) { c.putInts("\xff", nil) },
		`section "s": row 1 is "\xff": expected UTF-8`:                    func(c *container) { c.putStrings("s", []string{"", "\xff"}) },
		`its description takes 16777364 bytes: expected at most 16777216`: func(c *container) { c.putInts(strings.Repeat("n", maxHeader-200), nil) },
		`it takes 68719477224 bytes: expected at most 68719476736`:        func(c *container) { c.put(section{Name: "big", Type: typeLongs, Rows: maxContainer / 8}) },
		`more than 4096 sections`: func(c *container) {
			for i := range maxSections {
				c.putInts(fmt.Sprint(i), nil)
			}
		},
	} {
		c := smallContainer(t)
		put(c)
		c.putInts("later", nil)
		dir := t.TempDir()
		path := filepath.Join(dir, "gin.model")
		require.ErrorContains(t, c.writeFile(path), path+": the model cannot be written: "+want)
		requireEntries(t, dir)
	}
}

func requireEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, want, names)
}

func TestWritingAContainerReplacesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gin.model")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("old"), 1000), 0o644))
	require.NoError(t, smallContainer(t).writeFile(path))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, containerBytes(t, smallContainer(t)), b)
	requireEntries(t, dir, "gin.model")
}

func TestInterruptedWriteLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gin.model")
	require.NoError(t, smallContainer(t).writeFile(path))

	big := smallContainer(t)
	big.putFloats("big", make([]float32, 1<<20))
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	full := limit
	full.Cur = 1 << 20
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
	err := big.writeFile(path)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))

	require.ErrorContains(t, err, path+": the model cannot be written: ")
	require.ErrorIs(t, err, syscall.EFBIG)
	requireEntries(t, dir, "gin.model")
	_, err = readContainer(path, kindModel)
	require.NoError(t, err)
}

func TestEveryFailedWriteIsReported(t *testing.T) {
	c := smallContainer(t)
	for room := range containerBytes(t, c) {
		require.ErrorIs(t, c.write(&fullDisk{room}), syscall.ENOSPC, "room for %d bytes", room)
	}
}

type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return d.room, syscall.ENOSPC
	}
	d.room -= len(b)
	return len(b), nil
}

func TestWritingWhereNothingMayBeWrittenLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "inside"), 0o777))
	err := smallContainer(t).writeFile(folder)
	require.ErrorContains(t, err, folder+": the model cannot be written: ")
	requireEntries(t, dir, "taken")

	path := filepath.Join(dir, "missing", "gin.model")
	err = smallContainer(t).writeFile(path)
	require.ErrorContains(t, err, path+": the model cannot be written: ")
	require.ErrorIs(t, err, os.ErrNotExist)
	requireEntries(t, dir, "taken")

	if os.Geteuid() == 0 {
		t.Skip("root may write into read-only folders")
	}
	path = filepath.Join(folder, "gin.model")
	require.NoError(t, os.Chmod(folder, 0o555))
	defer os.Chmod(folder, 0o777)
	err = smallContainer(t).writeFile(path)
	require.ErrorContains(t, err, path+": the model cannot be written: ")
	require.ErrorIs(t, err, os.ErrPermission)
	require.NotContains(t, err.Error(), "\n")
	requireEntries(t, folder, "inside")
}

func (brokenDisk) Read([]byte) (int, error) { return 0, errBrokenDisk }

func sameContainer(t *testing.T, a, b *container) {
	t.Helper()
	var meta any
	if json.Unmarshal(a.meta, &meta) == nil {
		require.NoError(t, b.decodeMeta(&meta))
	}
	require.Equal(t, len(a.sections), len(b.sections))
	for i, s := range a.sections {
		require.Equal(t, s.Name, b.sections[i].Name)
		require.Equal(t, s.Type, b.sections[i].Type)
		switch s.Type {
		case typeFloats: // as bits: NaN differs from itself
			x, err := a.floats(s.Name)
			require.NoError(t, err)
			y, err := b.floats(s.Name)
			require.NoError(t, err)
			require.Equal(t, len(x), len(y))
			for i := range x {
				require.Equal(t, math.Float32bits(x[i]), math.Float32bits(y[i]))
			}
		case typeStrings:
			x, err := a.strings(s.Name)
			require.NoError(t, err)
			y, err := b.strings(s.Name)
			require.NoError(t, err)
			require.Equal(t, x, y)
		default:
			require.Equal(t, s.data, b.sections[i].data)
		}
	}
}
