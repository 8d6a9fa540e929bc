package container

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
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// assemble is a file with a header and data of one's own, and a right checksum.
func assemble(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte(Magic), version), uint32(len(header)))
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

func TestEveryFlippedBitIsAnError(t *testing.T) {
	b := small()
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		_, err := parseBytes(b)
		require.Error(t, err, "bit %d of byte %d", i%8, i/8)
		require.Contains(t, err.Error(), "file.model: byte ")
		require.NotContains(t, err.Error(), "\n")
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestEveryTruncatedFileIsAnError(t *testing.T) {
	b := small()
	for size := range b {
		_, err := parseBytes(b[:size])
		require.ErrorContains(t, err, "file.model: byte ", "the first %d bytes", size)
		_, err = parseBytes(sealed(b[:size]))
		require.Error(t, err, "the first %d bytes, with a checksum", size)
		_, err = parse(bytes.NewReader(b[:size]), int64(len(b)), "file.model")
		require.Error(t, err, "cut after %d bytes while it was read", size)
	}
}

// small has a section of each type, and one with nothing in it.
func small() []byte {
	header := `{"kind":"model","meta":{"width":2},"sections":[{"name":"w","type":"float32","rows":3},{"name":"i","type":"int32","rows":2},` +
		`{"name":"l","type":"int64","rows":1},{"name":"classes","type":"text","rows":3,"bytes":5},{"name":"empty","type":"float32","rows":0}]}`
	var data []byte
	for _, section := range []any{[]float32{1, -2.5, float32(math.Inf(1)), 0}, []int32{-1, math.MaxInt32}, []int64{math.MinInt64}, []int64{2, 2, 5}, []byte("ab\xc3\xa9c\x00\x00\x00")} {
		data, _ = binary.Append(data, binary.LittleEndian, section)
	}
	return assemble(header, data)
}

func parseBytes(b []byte) (*File, error) {
	return parse(bytes.NewReader(b), int64(len(b)), "file.model")
}

func TestAFileReturnsWhatItHolds(t *testing.T) {
	f, err := parseBytes(small())
	require.NoError(t, err)
	require.Equal(t, "model", f.Kind)
	require.JSONEq(t, `{"width":2}`, string(f.Meta))
	floats, err := f.Floats("w")
	require.NoError(t, err)
	require.Equal(t, []float32{1, -2.5, float32(math.Inf(1))}, floats)
	ints, err := f.Ints("i")
	require.NoError(t, err)
	require.Equal(t, []int32{-1, math.MaxInt32}, ints)
	longs, err := f.Longs("l")
	require.NoError(t, err)
	require.Equal(t, []int64{math.MinInt64}, longs)
	texts, err := f.Strings("classes")
	require.NoError(t, err)
	require.Equal(t, []string{"ab", "", "éc"}, texts)
	empty, err := f.Floats("empty")
	require.NoError(t, err)
	require.Empty(t, empty)

	_, err = f.Floats("b")
	require.ErrorContains(t, err, `file.model: byte 16: the header lists 5 sections, but not "b", of type float32`)
	_, err = f.Ints("w")
	require.ErrorContains(t, err, `: section "w" holds float32: expected int32`)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	list := func(sections string) []byte {
		return assemble(`{"kind":"model","meta":{},"sections":[`+sections+`]}`, make([]byte, 16))
	}
	patched := func(at int, value uint32) []byte {
		b := small()
		binary.LittleEndian.PutUint32(b[at:], value)
		return sealed(b)
	}
	flipped := list(`{"name":"l","type":"int64","rows":2}`)
	flipped[len(flipped)-sha256.Size-1] ^= 4

	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":            {nil, "byte 0: this is not a file of nodemask 0.3 or older"},
		"another file":       {[]byte("id,label,f0\n1,a,0.5\n"), "byte 0: this is not a file of nodemask 0.3 or older: found \"id,label\", expected \"NODEMASK\""},
		"only the magic":     {[]byte(Magic), "byte 8: the file ends here, at least 40 bytes early"},
		"an unknown kind":    {assemble(`{"kind":"x","sections":[]}`, nil), `unknown kind "x": expected a model or a cache`},
		"version 2":          {patched(8, 2), "byte 8: format version 2: expected 1"},
		"a huge header":      {patched(12, math.MaxUint32), "byte 12: the header claims 4294967295 bytes: expected at most "},
		"a header too long":  {assemble(strings.Repeat(" ", maxHeader)+"{}", nil), "byte 12: the header claims 16777218 bytes: expected at most 16777216"},
		"no JSON":            {assemble(`{"kind"`, nil), "byte 16: the header cannot be read: unexpected end of JSON input"},
		"no sections":        {assemble(`{"kind":"model"}`, nil), `the header's "sections" read "": expected a list`},
		"sections by name":   {assemble(`{"kind":"model","sections":{}}`, nil), `the header's "sections" read "{}": expected a list`},
		"null":               {list("null"), `section 0 of the header is called ""`},
		"a section of text":  {list(`"w"`), "section 0 of the header cannot be read"},
		"twice":              {list(`{"name":"w","type":"float32","rows":2},{"name":"w","type":"float32","rows":2}`), `section 1 of the header is called "w"`},
		"an unknown type":    {list(`{"name":"w","type":"float16","rows":8}`), `section "w" is of type "float16": expected float32, int32, int64 or text`},
		"negative rows":      {list(`{"name":"w","type":"float32","rows":-1}`), `section "w" claims -1 rows of float32: expected 0 to 4`},
		"rows that overflow": {list(`{"name":"w","type":"float32","rows":4611686018427387904}`), "claims 4611686018427387904 rows"},
		"beyond int64":       {list(`{"name":"w","type":"float32","rows":9223372036854775808}`), "section 0 of the header cannot be read"},
		"bytes of numbers":   {list(`{"name":"w","type":"float32","rows":3,"bytes":4}`), "claims 4 bytes of text: expected 0 to 0"},
		"negative bytes":     {list(`{"name":"s","type":"text","rows":1,"bytes":-8}`), "claims -8 bytes of text: expected 0 to 8"},
		"bytes too many":     {list(`{"name":"s","type":"text","rows":1,"bytes":9223372036854775807}`), "claims 9223372036854775807 bytes of text"},
		"too few rows":       {list(`{"name":"w","type":"float32","rows":1}`), "the sections end at byte "},
		"a flipped bit":      {flipped, "the checksum is "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseBytes(c.file)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "file.model: byte ")
			require.Less(t, len(err.Error()), 400)
		})
	}
}

func TestTextsOutOfOrderOrNotInUTF8AreErrors(t *testing.T) {
	for want, ends := range map[string][]int64{
		"row 1 ends at 0: expected 2 to 2":                    {2, 0},
		"row 0 ends at -9223372036854775808: expected 0 to 2": {math.MinInt64, 2},
		"row 0 ends at 3: expected 0 to 2":                    {3},
		`row 0 is "\xc3": expected UTF-8`:                     {1, 2},
	} {
		data, _ := binary.Append(nil, binary.LittleEndian, ends)
		f, err := parseBytes(assemble(fmt.Sprintf(`{"kind":"model","meta":{},"sections":[{"name":"s","type":"text","rows":%d,"bytes":2}]}`, len(ends)), append(data, "\xc3\xa9\x00\x00\x00\x00\x00\x00"...)))
		require.NoError(t, err)
		_, err = f.Strings("s")
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "file.model: byte ")
	}
}

func TestHostileFilesTakeLittleMemory(t *testing.T) {
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
			_, err := parseBytes(file)
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

func TestOnlyRegularFilesOfBearableSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Read(dir)
	require.ErrorContains(t, err, dir+": this is not a regular file (d")
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = Read(pipe)
	require.ErrorContains(t, err, pipe+": this is not a regular file (p")
	huge := filepath.Join(dir, "huge")
	require.NoError(t, os.WriteFile(huge, []byte(Magic), 0o600))
	if err := os.Truncate(huge, maxSize+1); err != nil {
		t.Skip(err)
	}
	_, err = Read(huge)
	require.ErrorContains(t, err, huge+": the file has 68719476737 bytes: expected at most 68719476736")
	require.NoError(t, os.Truncate(huge, maxSize))
	_, err = Read(huge)
	require.ErrorContains(t, err, "byte 8: format version 0", "without 64 GiB of memory")
}

func TestWhatTheDiskSaysIsPassedOn(t *testing.T) {
	b := small()
	for size := range b {
		_, err := parse(io.MultiReader(bytes.NewReader(b[:size]), brokenDisk{}), int64(len(b)), "file.model")
		require.ErrorIs(t, err, errBrokenDisk)
		require.ErrorContains(t, err, fmt.Sprintf("file.model: byte %d: ", size))
	}
}

var errBrokenDisk = errors.New("input/output error")

type brokenDisk struct{}

func (brokenDisk) Read([]byte) (int, error) { return 0, errBrokenDisk }

// FuzzContainer reads any bytes, as they are and with a right checksum, and any header and data in a right frame. All that
// a header lists can then be taken out, or is an error.
func FuzzContainer(f *testing.F) {
	whole := small()
	length := int64(binary.LittleEndian.Uint32(whole[12:]))
	header := string(whole[headSize:][:length])
	data := whole[padded(headSize+length) : len(whole)-sha256.Size]
	require.Equal(f, whole, assemble(header, data))
	f.Add(whole, header, data)
	f.Add([]byte(Magic), `{"kind":"cache","sections":[{"name":"s","type":"text","rows":1,"bytes":1}]}`, []byte("\x01\x00\x00\x00\x00\x00\x00\x00a\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte, header string, data []byte) {
		for _, b := range [][]byte{raw, sealed(raw), assemble(header, data)} {
			file, err := parseBytes(b)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "file.model: byte ") || strings.Contains(err.Error(), "\n") {
					t.Fatalf("the error does not read as others do: %q", err)
				}
				continue
			}
			_ = json.Valid(file.Meta)
			for _, s := range file.sections {
				rows := -1
				switch s.Type {
				case typeFloats:
					all, err := file.Floats(s.Name)
					require.NoError(t, err)
					rows = len(all)
				case typeInts:
					all, err := file.Ints(s.Name)
					require.NoError(t, err)
					rows = len(all)
				case typeLongs:
					all, err := file.Longs(s.Name)
					require.NoError(t, err)
					rows = len(all)
				case typeStrings:
					all, err := file.Strings(s.Name)
					if err != nil {
						continue
					}
					rows = len(all)
				}
				require.EqualValues(t, s.Rows, rows)
			}
		}
	})
}
