package cached

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
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

// assemble is a file of any header and data, its lengths and its checksum right.
func assemble(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte(containerMagic), containerVersion), uint32(len(header)))
	b = append(b, header...)
	b = append(b, make([]byte, padded(int64(len(b)))-int64(len(b)))...)
	return sealed(append(append(b, data...), make([]byte, sha256.Size)...))
}

// sealed is b with its last bytes replaced by the checksum of those before.
func sealed(b []byte) []byte {
	b = bytes.Clone(b)
	if end := len(b) - sha256.Size; end >= 0 {
		sum := sha256.Sum256(b[:end])
		copy(b[end:], sum[:])
	}
	return b
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

func TestEveryFlippedBitOfAContainerIsAnError(t *testing.T) {
	b := containerBytes(t, smallContainer(t))
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		_, err := parseBytes(b, kindModel)
		require.Error(t, err, "bit %d of byte %d", i%8, i/8)
		require.Contains(t, err.Error(), "file.model: byte ")
		require.NotContains(t, err.Error(), "\n")
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestEveryTruncatedContainerIsAnError(t *testing.T) {
	b := containerBytes(t, smallContainer(t))
	for size := range b {
		_, err := parseBytes(b[:size], kindModel)
		require.ErrorContains(t, err, "file.model: byte ", "the first %d bytes", size)
		_, err = parseBytes(sealed(b[:size]), kindModel)
		require.Error(t, err, "the first %d bytes, with a checksum", size)
		_, err = parseContainer(bytes.NewReader(b[:size]), int64(len(b)), "file.model", kindModel)
		require.Error(t, err, "cut after %d bytes while it was read", size)
	}
}

func TestContainerErrorsSayWhatToDo(t *testing.T) {
	list := func(sections string) []byte {
		return assemble(`{"kind":"model","meta":{},"sections":[`+sections+`]}`, make([]byte, 16))
	}
	ends := func(ends ...int64) []byte {
		data := make([]byte, 8*len(ends)+8)
		for i, end := range ends {
			binary.LittleEndian.PutUint64(data[8*i:], uint64(end))
		}
		copy(data[8*len(ends):], "\xc3\xa9")
		return assemble(fmt.Sprintf(`{"kind":"model","meta":{},"sections":[{"name":"s","type":"text","rows":%d,"bytes":2}]}`, len(ends)), data)
	}
	patched := func(at int, value uint32) []byte {
		b := containerBytes(t, smallContainer(t))
		binary.LittleEndian.PutUint32(b[at:], value)
		return sealed(b)
	}
	cache, err := newContainer(kindCache, nil)
	require.NoError(t, err)
	flipped := list(`{"name":"l","type":"int64","rows":2}`)
	flipped[len(flipped)-sha256.Size-1] ^= 4

	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"nothing":            {nil, []string{"byte 0: this is not a nodemask model"}},
		"another file":       {[]byte("id,label,f0\n1,a,0.5\n"), []string{"byte 0: this is not a nodemask model: found \"id,label\", expected \"NODEMASK\""}},
		"only the magic":     {[]byte(containerMagic), []string{"byte 8: the file ends here, at least 40 bytes early", "train the model again"}},
		"a cache":            {containerBytes(t, cache), []string{"this is a cache: expected a model"}},
		"an unknown kind":    {assemble(`{"kind":"x","sections":[]}`, nil), []string{`unknown kind "x": expected a model`}},
		"a newer version":    {patched(8, 2), []string{"byte 8: format version 2: this was written by a newer nodemask", "Update nodemask"}},
		"version 0":          {patched(8, 0), []string{"byte 8: format version 0: expected 1"}},
		"a huge header":      {patched(12, math.MaxUint32), []string{"byte 12: the header claims 4294967295 bytes: expected at most "}},
		"a header too long":  {assemble(strings.Repeat(" ", maxHeader)+"{}", nil), []string{"byte 12: the header claims 16777218 bytes: expected at most 16777216"}},
		"no JSON":            {assemble(`{"kind"`, nil), []string{"byte 16: the header cannot be read: unexpected end of JSON input"}},
		"no sections":        {assemble(`{"kind":"model"}`, nil), []string{`the header's "sections" read "": expected a list`}},
		"sections by name":   {assemble(`{"kind":"model","sections":{}}`, nil), []string{`the header's "sections" read "{}": expected a list`}},
		"null":               {list("null"), []string{"a section is called"}},
		"a section of text":  {list(`"w"`), []string{"section 0 of the header cannot be read"}},
		"twice":              {list(`{"name":"w","type":"float32","rows":2},{"name":"w","type":"float32","rows":2}`), []string{`two sections are called "w"`}},
		"an unknown type":    {list(`{"name":"w","type":"float16","rows":8}`), []string{`section "w" is of type "float16": expected float32, int32, int64 or text`}},
		"negative rows":      {list(`{"name":"w","type":"float32","rows":-1}`), []string{`section "w" claims -1 rows of float32: expected 0 to 4`}},
		"rows that overflow": {list(`{"name":"w","type":"float32","rows":4611686018427387904}`), []string{"claims 4611686018427387904 rows"}},
		"beyond int64":       {list(`{"name":"w","type":"float32","rows":9223372036854775808}`), []string{"section 0 of the header cannot be read"}},
		"bytes of numbers":   {list(`{"name":"w","type":"float32","rows":3,"bytes":4}`), []string{"claims 4 bytes of text: expected 0 to 0"}},
		"negative bytes":     {list(`{"name":"s","type":"text","rows":1,"bytes":-8}`), []string{"claims -8 bytes of text: expected 0 to 8"}},
		"bytes too many":     {list(`{"name":"s","type":"text","rows":1,"bytes":9223372036854775807}`), []string{"claims 9223372036854775807 bytes of text"}},
		"too few rows":       {list(`{"name":"w","type":"float32","rows":1}`), []string{"8 bytes follow after the last section and the checksum"}},
		"a flipped bit":      {flipped, []string{"the checksum is ", "The file is damaged or cut short: get it again, or train the model again"}},
		"ends that overlap":  {ends(2, 0), []string{"row 1 ends at 0: expected 2 to 2"}},
		"a negative end":     {ends(math.MinInt64, 2), []string{"row 0 ends at -9223372036854775808: expected 0 to 2"}},
		"an end beyond":      {ends(3), []string{"row 0 ends at 3: expected 0 to 2"}},
		"an end too early":   {ends(0), []string{"its text ends here, but the header claims 2 bytes more"}},
		"half a letter":      {ends(1, 2), []string{`row 0 is "\xc3": expected UTF-8`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseBytes(c.file, kindModel)
			require.Error(t, err)
			for _, want := range append(c.want, "file.model: byte ") {
				require.Contains(t, err.Error(), want)
			}
			require.Less(t, len(err.Error()), 400)
		})
	}
	_, err = parseBytes(nil, kindCache)
	require.ErrorContains(t, err, "this is not a nodemask cache")
	_, err = parseBytes([]byte(containerMagic), kindCache)
	require.ErrorContains(t, err, "delete it and run the same command")
}

func TestHostileContainersTakeLittleMemory(t *testing.T) {
	sections := func(one string, n int) []byte {
		return assemble(`{"kind":"model","meta":{},"sections":[`+strings.Repeat(one+",", n)+one+`]}`, nil)
	}
	for name, file := range map[string][]byte{
		"huge section":         assemble(`{"kind":"model","meta":{},"sections":[{"name":"w","type":"float32","rows":4000000000}]}`, nil),
		"four million nulls":   sections("null", 3<<20),
		"four million numbers": sections("1", 4<<20),
		"a million objects":    sections("{}", 1<<20),
		"a long number":        sections(strings.Repeat("1", 8<<20), 0),
		"a long name":          sections(`{"name":"`+strings.Repeat("n", 8<<20)+`","type":"x"}`, 0),
		"deep":                 sections(strings.Repeat("[", 8<<20), 0),
		"many sections":        assemble(`{"kind":"model","meta":{},"sections":[`+manySections(200_000)+`]}`, nil),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := parseBytes(file, kindModel)
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 400)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(file)+4<<20), "allocated in all, for a file of %d bytes", len(file))
		})
	}
}

func manySections(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"%d","type":"text","rows":0}`, i)
	}
	return b.String()
}

func TestAsManySectionsAsMayBeAreRead(t *testing.T) {
	read, err := parseBytes(assemble(`{"kind":"model","meta":{},"sections":[`+manySections(maxSections)+`]}`, nil), kindModel)
	require.NoError(t, err)
	require.Len(t, read.sections, maxSections)
	_, err = parseBytes(assemble(`{"kind":"model","meta":{},"sections":[`+manySections(maxSections+1)+`]}`, nil), kindModel)
	require.ErrorContains(t, err, "more than 4096 sections")
}

func TestMissingSectionsAndOtherTypesAreErrors(t *testing.T) {
	read, err := parseBytes(containerBytes(t, smallContainer(t)), kindModel)
	require.NoError(t, err)
	_, err = read.floats("b")
	require.ErrorContains(t, err, `file.model: byte 16: the header lists 5 sections, but not "b", of type float32`)
	_, err = read.ints("w")
	require.ErrorContains(t, err, `: section "w" holds float32: expected int32`)
	require.ErrorContains(t, err, "file.model: byte ")
	_, err = read.longs("classes")
	require.ErrorContains(t, err, `: section "classes" holds text: expected int64`)
	_, err = read.strings("l")
	require.ErrorContains(t, err, `: section "l" holds int64: expected text`)
	err = read.decodeMeta(&[]int{})
	require.ErrorContains(t, err, "file.model: byte 16: the description of the model cannot be read")
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

func TestOnlyRegularFilesOfBearableSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	_, err := readContainer(filepath.Join(dir, "missing"), kindModel)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = readContainer(dir, kindModel)
	require.ErrorContains(t, err, dir+": this is not a regular file (d")
	_, err = readContainer(os.DevNull, kindModel)
	require.ErrorContains(t, err, "this is not a regular file")

	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = readContainer(pipe, kindModel)
	require.ErrorContains(t, err, pipe+": this is not a regular file (p")

	huge := filepath.Join(dir, "huge")
	require.NoError(t, os.WriteFile(huge, []byte(containerMagic), 0o600))
	if err := os.Truncate(huge, maxContainer+1); err != nil {
		t.Skip(err)
	}
	_, err = readContainer(huge, kindModel)
	require.ErrorContains(t, err, huge+": the file has 68719476737 bytes: expected a nodemask model of at most 68719476736")
	require.NoError(t, os.Truncate(huge, maxContainer))
	_, err = readContainer(huge, kindModel)
	require.ErrorContains(t, err, "byte 8: format version 0", "without 64 GiB of memory")
}

func TestContainerReaderPassesOnWhatTheDiskSays(t *testing.T) {
	b := containerBytes(t, smallContainer(t))
	for size := range b {
		broken := io.MultiReader(bytes.NewReader(b[:size]), brokenDisk{})
		_, err := parseContainer(broken, int64(len(b)), "file.model", kindModel)
		require.ErrorIs(t, err, errBrokenDisk)
		require.ErrorContains(t, err, fmt.Sprintf("file.model: byte %d: ", size))
	}
}

var errBrokenDisk = errors.New("input/output error")

type brokenDisk struct{}

func (brokenDisk) Read([]byte) (int, error) { return 0, errBrokenDisk }

// FuzzContainer reads any bytes, as they are and with a right checksum, and any header and data in a right frame. What
// can be read must survive being written.
func FuzzContainer(f *testing.F) {
	whole := containerBytes(f, smallContainer(f))
	length := int64(binary.LittleEndian.Uint32(whole[12:]))
	header := string(whole[containerHead:][:length])
	data := whole[padded(containerHead+length) : len(whole)-sha256.Size]
	require.Equal(f, whole, assemble(header, data))
	f.Add(whole, header, data)
	f.Add([]byte(containerMagic), `{"kind":"cache","sections":[{"name":"s","type":"text","rows":1,"bytes":1}]}`, []byte("\x01\x00\x00\x00\x00\x00\x00\x00a\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte, header string, data []byte) {
		for _, b := range [][]byte{raw, sealed(raw), assemble(header, data)} {
			for _, kind := range []string{kindModel, kindCache} {
				c, err := parseBytes(b, kind)
				if err != nil {
					if !strings.HasPrefix(err.Error(), "file.model: byte ") || strings.Contains(err.Error(), "\n") {
						t.Fatalf("the error does not read as others do: %q", err)
					}
					continue
				}
				again, err := parseBytes(containerBytes(t, c), kind)
				if err != nil {
					t.Fatal(err)
				}
				sameContainer(t, c, again)
			}
		}
	})
}

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
