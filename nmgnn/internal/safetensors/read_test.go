package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func headerSumOf(header string) string {
	before, after, _ := strings.Cut(header, `"header_sha256":"`)
	return sumOf(before + `"header_sha256":"` + none + after[len(none):])
}

// assemble returns a file with this header and data; META is replaced by metadata with correct checksums.
func assemble(header string, data []byte) []byte {
	meta := `"__metadata__":{"format":"nodemask","kind":"model","version":"1","data_sha256":"` + sumOf(string(
		data)) + `","header_sha256":"` + none + `"}`
	header = strings.Replace(header, "META", meta, 1)
	if strings.Contains(header, `"header_sha256":"`+none+`"`) {
		header = strings.Replace(header, `"header_sha256":"`+none, `"header_sha256":"`+headerSumOf(header), 1)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func padding(header string) string {
	length := len(assemble(header, nil)) - lengthSize
	return header + strings.Repeat(" ", (8-length%8)%8)
}

func TestEveryFlippedBitIsAnError(t *testing.T) {
	b := bytesOf(t, small())
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		_, err := parseModel(b)
		require.Error(t, err, "bit %d of byte %d", i%8, i/8)
		require.Contains(t, err.Error(), "file.model: byte ")
		require.NotContains(t, err.Error(), "\n")
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestEveryFileThatIsCutOrGoesOnIsAnError(t *testing.T) {
	b := bytesOf(t, small())
	for size := range b {
		_, err := parseModel(b[:size])
		require.ErrorContains(t, err, "file.model: byte ", "the first %d bytes", size)
	}
	_, err := parseModel(append(bytes.Clone(b), 0))
	require.ErrorContains(t, err, "1 bytes follow after the last tensor")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	data := make([]byte, 16)
	of := func(tensors string) []byte { return assemble(padding("{META,"+tensors+"}"), data) }
	one := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`"w":{"dtype":%s,"shape":%s,"data_offsets":%s}`, dtype, shape, offsets)
	}
	whole := one(`"F32"`, "[4]", "[0,16]")
	nan := []byte{0, 0, 0, 0, 0, 0, 192, 127, 0, 0, 128, 127, 0, 0, 0, 0}
	flipped := of(whole)
	flipped[len(flipped)-1] ^= 4
	claims := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), of(whole)[8:]...) }

	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing": {nil, "byte 0: this is not a nodemask model: the file has 0 bytes"},
		"another file": {[]byte("id,label,f0\n1,a,0.5\n"),
			"byte 0: the header claims 7810757299310191721 bytes: expected at most 12. This is not a nodemask model, or it is " +
				"damaged or cut short"},
		"an old file": {[]byte("NODEMASK\x01\x00\x00\x00"),
			"byte 0: the header claims 5427753776041971534 bytes: expected at most 4"},
		"a huge header": {claims(math.MaxUint64), "the header claims 18446744073709551615 bytes: expected at most "},
		"a header over 100 MB": {assemble(strings.Repeat(" ", maxHeader)+"{}", nil),
			"the header claims 100000002 bytes: expected at most 100000000"},
		"a header too long":  {claims(uint64(len(of(whole)) - 7)), "the header claims "},
		"no header":          {claims(0), `the header begins with ""`},
		"no object":          {assemble("[]", nil), `the header begins with "[]": expected "{"`},
		"a space first":      {assemble(" {META}", nil), `the header begins with " {`},
		"not UTF-8":          {assemble("{\"\xff\":1}", nil), "the header is not UTF-8"},
		"no JSON":            {assemble(`{kind`, nil), "the header cannot be read: "},
		"no end":             {assemble(`{META`, nil), "the header cannot be read: "},
		"more after the end": {assemble("{META} {}", nil), "after top-level value"},
		"no metadata": {assemble(padding("{"+whole+"}"), data),
			`not a nodemask model: its metadata has the format "": expected "nodemask"`},
		"PyTorch's": {assemble(padding(`{"__metadata__":{"format":"pt"},`+whole+"}"), data),
			`its metadata has the format "pt": expected "nodemask"`},
		"a cache": {assemble(`{"__metadata__":{"format":"nodemask","kind":"cache"}}`, nil),
			"this is a cache: expected a model"},
		"a newer version": {assemble(`{"__metadata__":{"format":"nodemask","kind":"model","version":"2"}}`, nil),
			`version "2" of a model: expected "1". Another nodemask wrote this: update nodemask`},
		"no checksum": {assemble(`{"__metadata__":{"format":"nodemask","kind":"model","version":"1"}}`, nil),
			`the metadata has "data_sha256": "": expected a SHA-256 of 64 digits`},
		"a short checksum": {assemble(
			`{"__metadata__":{"format":"nodemask","kind":"model","version":"1","data_sha256":"ab"}}`, nil),
			`the metadata has "data_sha256": "ab"`},
		"a number in it":        {assemble(`{"__metadata__":{"format":1}}`, nil), "the metadata cannot be read (json: cannot unmarshal number"},
		"a list as metadata":    {assemble(`{"__metadata__":[]}`, nil), "the metadata cannot be read (json: cannot unmarshal array"},
		"a tensor of text":      {of(`"w":"w"`), `tensor "w" cannot be read (json: cannot unmarshal string`},
		"a tensor without name": {of(`"":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}`), `tensor "" cannot be read`},
		"no type": {of(`"w":{"shape":[4],"data_offsets":[0,16]}`),
			`tensor "w" is of type "": expected F32`},
		"one key more": {of(`"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":{}}`), `json: unknown field "x"`},
		"an unknown type": {of(one(`"F16"`, "[8]", "[0,16]")),
			`tensor "w" is of type "F16": expected F32, I32, I64 or U8: save it as F32`},
		"no type's name":  {of(one(`""`, "[8]", "[0,16]")), `tensor "w" is of type ""`},
		"a shape of text": {of(one(`"F32"`, `["4"]`, "[0,16]")), "json: cannot unmarshal string"},
		"a negative size": {of(one(`"F32"`, "[-4]", "[0,16]")),
			`tensor "w" cannot be read`},
		"a size in tens": {of(one(`"F32"`, "[4e0]", "[0,16]")), "json: cannot unmarshal number 4e0"},
		"a product beyond int64": {of(one(`"F32"`, "[4294967296,4294967296]", "[0,16]")),
			"of more numbers than can be counted"},
		"a product that wraps": {of(one(`"F32"`, "[4611686018427387905]", "[0,4]")), "of more numbers than can be counted"},
		"nine sizes":           {of(one(`"F32"`, "[1,1,1,1,1,1,1,1,4]", "[0,16]")), "expected a name, dtype, shape of at most 8 sizes"},
		"another size": {of(one(`"F32"`, "[3]", "[0,16]")),
			`tensor "w" has 16 bytes: expected 12 for F32 of shape [3]`},
		"three offsets": {of(one(`"F32"`, "[4]", "[0,16,16]")), "and two data_offsets"},
		"an end before": {of(one(`"F32"`, "[4]", "[16,0]")),
			`tensor "w" has bytes 16 to 0 of the data: expected 0 to 16`},
		"an end beyond": {of(one(`"F32"`, "[5]", "[0,20]")),
			`tensor "w" has bytes 0 to 20 of the data: expected 0 to 16`},
		"a huge end": {of(one(`"U8"`, "[9223372036854775807]", "[0,9223372036854775807]")),
			"has bytes 0 to 9223372036854775807 of the data"},
		"a hole before": {of(one(`"F32"`, "[3]", "[4,16]")),
			`no tensor has bytes 0 to 4 of the data, before "w": expected no holes`},
		"a hole between": {of(one(`"F32"`, "[1]", "[0,4]") +
			`,"v":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}`), `no tensor has bytes 4 to 8 of the data, before "v"`},
		"bytes after": {of(one(`"F32"`, "[3]", "[0,12]")), "4 bytes follow after the last tensor"},
		"one over another": {of(one(`"F32"`, "[3]", "[0,12]") +
			`,"v":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}`),
			`tensor "v" begins at 8 of the data, inside the one before, which ends at 12`},
		"twice the same place": {of(whole + `,"v":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}`),
			"begins at 0 of the data, inside the one before, which ends at 16"},
		"out of line": {of(
			`"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"u":{"dtype":"U8","shape":[4],"data_offsets":[12,16]},` + one(
				`"I64"`, "[1]", "[4,12]")), "expected a multiple of 8"},
		"a header out of line": {assemble(padding("{META,"+whole+"}")+" ", data), "expected a multiple of 4"},
		"a flipped bit":        {flipped, "the checksum of the data is "},
		"not a number": {assemble(padding("{META,"+whole+"}"), nan),
			`tensor "w": number 1 is NaN: expected a finite one: train the model again`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseModel(c.file)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "file.model: byte ")
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 400)
		})
	}
	f, err := parseModel(of(whole))
	require.NoError(t, err, "the frame of all these is right")
	_, err = f.Metadata("seed")
	require.ErrorContains(t, err, `file.model: byte 8: the metadata has no "seed"`)
	floats := func(name string, sizes ...int) error {
		_, _, err := Get[float32](f, name, sizes...)
		return err
	}
	_, _, ofAnotherType := Get[int32](f, "w")
	for want, err := range map[string]error{
		`there is no tensor "v" among 1`:                                  floats("v"),
		`tensor "w" is F32 of shape [4]: expected I32`:                    ofAnotherType,
		`tensor "w" is F32 of shape [4]: expected F32 of shape [2 2]`:     floats("w", 2, 2),
		`tensor "w" is F32 of shape [4]: expected F32 of shape [5]`:       floats("w", 5),
		`tensor "w" is F32 of shape [4]: expected F32 of shape [any any]`: floats("w", Any, Any),
	} {
		require.ErrorContains(t, err, "file.model: byte 8: "+want)
	}
}

func TestHostileFilesTakeLittleMemory(t *testing.T) {
	tensors := func(one string, n int) []byte {
		return assemble("{META,"+strings.Repeat(one+",", n)+one+"}", nil)
	}
	many := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
		}
		return assemble("{META"+b.String()+"}", nil)
	}
	for name, file := range map[string][]byte{
		"huge tensor":      tensors(`"w":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}`, 0),
		"a long number":    tensors(`"w":{"shape":[`+strings.Repeat("1", 8<<20)+`]}`, 0),
		"a long list":      tensors(`"w":{"shape":[`+strings.Repeat("1,", 4<<20)+`1]}`, 0),
		"a long name":      tensors(`"`+strings.Repeat("n", 8<<20)+`":1`, 0),
		"deep":             tensors(`"w":`+strings.Repeat("[", 8<<20), 0),
		"deep in metadata": assemble(`{"__metadata__":{"a":`+strings.Repeat("{\"a\":", 1<<20)+"}", nil),
		"much metadata":    assemble(`{"__metadata__":{`+strings.Repeat(`"a":"b",`, 1<<20)+"}", nil),
		"many tensors":     many(200_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := parseModel(file)
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 400)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(file)+4<<20),
				"allocated in all, for a file of %d bytes", len(file))
		})
	}
	_, err := parseModel(many(maxTensors))
	require.NoError(t, err, "as many as may be")
	_, err = parseModel(many(maxTensors + 1))
	require.ErrorContains(t, err, "there are 4097 tensors: expected at most 4096")
}

func TestALargeFileTakesNoMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.safetensors")
	b := New("model", nil)
	Add(b, "w", make([]float32, 16<<20), 16<<20)
	require.NoError(t, b.WriteFile(path))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(path, modelKind)
	require.NoError(t, err)
	defer f.Close()
	values, _ := get[float32](t, f, "w")
	require.Zero(t, values[len(values)-1])
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "for a file of 64 MiB")
}

func TestAFileThatIsCutWhileItIsMappedIsAnErrorAndNoCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.safetensors")
	b := New("model", nil)
	Add(b, "w", make([]float32, 1<<20), 1<<20)
	require.NoError(t, b.WriteFile(path))
	f, err := Open(path, modelKind)
	require.NoError(t, err)
	defer f.Close()
	values, _ := get[float32](t, f, "w")
	require.NoError(t, os.Truncate(path, 4096))
	rows := make([]float32, 10)
	err = Guard(path, func() error { copy(rows, values[len(values)-10:]); return nil })
	require.ErrorContains(t, err, path+": the file was cut or its disk failed while it was read (")

	errOther := errors.New("another error")
	require.ErrorIs(t, Guard(path, func() error { return errOther }), errOther, "other errors go on")
	require.PanicsWithValue(t, "a defect", func() { _ = Guard(path, func() error { panic("a defect") }) })
}

func TestOnlyRegularFilesOfBearableSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "missing"), modelKind)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(dir, modelKind)
	require.ErrorContains(t, err, dir+": a folder: expected a file")
	_, err = Open(os.DevNull, modelKind)
	require.ErrorContains(t, err, "a pipe, socket or device")
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = Open(empty, modelKind)
	require.ErrorContains(t, err, empty+": byte 0: this is not a nodemask model: the file has 0 bytes")

	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = Open(pipe, modelKind)
	require.ErrorContains(t, err, pipe+": a pipe, socket or device: expected a regular file")

	huge := filepath.Join(dir, "huge")
	require.NoError(t, os.WriteFile(huge, []byte("NODEMASK"), 0o600))
	if err := os.Truncate(huge, maxFile+1); err != nil {
		t.Skip(err)
	}
	_, err = Open(huge, modelKind)
	require.ErrorContains(t, err,
		huge+": the file has 1099511627777 bytes: expected a nodemask model of at most 1099511627776")
	require.NoError(t, os.Truncate(huge, maxFile))
	_, err = Open(huge, modelKind)
	require.ErrorContains(t, err, "byte 0: the header claims 5427753776041971534 bytes", "without a terabyte of memory")
}

// FuzzSafetensors reads arbitrary bytes, and arbitrary headers and data in a valid frame, with and without checksums.
// Readable files must survive writing.
func FuzzSafetensors(f *testing.F) {
	whole := bytesOf(f, small())
	length := binary.LittleEndian.Uint64(whole)
	f.Add(whole, string(whole[8:][:length]), whole[8+length:])
	f.Add([]byte("NODEMASK"), padding(`{META,"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`), make([]byte, 8))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"),
		`{META,"w":{"dtype":"U8","shape":[0,9],"data_offsets":[0,0]},"v":{"dtype":"I64","shape":[],"data_offsets":[0,`+
			`8]}}`, make([]byte, 8))
	f.Fuzz(func(t *testing.T, raw []byte, header string, data []byte) {
		for _, b := range [][]byte{raw, assemble(header, data)} {
			file, own, err := layout(b, "file.model", modelKind)
			if err == nil {
				_ = file.verify(own) // the checksums hardly ever match
				again := builderOf(t, file)
				if again.err != nil { // not finite
					continue
				}
				written, err := parseModel(bytesOf(t, again))
				if err != nil {
					t.Fatal(err)
				}
				require.Equal(t, bytesOf(t, again), bytesOf(t, builderOf(t, written)))
				for i, one := range file.tensors {
					require.Equal(t, one.shape, file.tensors[i].shape)
					require.Equal(t, int(one.end-one.begin), len(file.data[one.begin:one.end]))
				}
				continue
			}
			if !strings.HasPrefix(err.Error(), "file.model: byte ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error does not read as others do: %q", err)
			}
		}
	})
}
