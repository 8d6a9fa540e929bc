package cached

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

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
