package pickle

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testPickle is a file written by testdata/makepickles.py.
func testPickle(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", "pickles", name+".pickle"))
	require.NoError(t, err)
	return data
}

func TestNumbersAndStringsOfEveryProtocolAreRead(t *testing.T) {
	want := []any{0.5, int64(-7), true, None{}, 2.25, int64(-1), int64(300), int64(70000), int64(1 << 40), int64(-1 << 40),
		String("hé€\n'"), String("\x00\xff'\\")}
	for _, name := range []string{"scalars-0", "scalars-1", "scalars-2", "scalars-3"} {
		v, err := Read(testPickle(t, name))
		require.NoError(t, err, name)
		assert.Equal(t, want, v.(*List).Items, name)
	}
	v, err := Read(testPickle(t, "python2-strings"))
	require.NoError(t, err)
	assert.Equal(t, []any{String("a\x00\n'b"), String("it's"), true, int64(5), 1.5}, v.(*List).Items)
}

func TestSevenBytesCannotAskForTwoGigabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read([]byte{0x80, 2, 0x54, 0xff, 0xff, 0xff, 0x7f})
	runtime.ReadMemStats(&after)
	assert.EqualError(t, err, "byte 2: this pickle asks for 2.0 GiB in one piece; a graph file needs at most 64.0 MiB")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestNoGlobalOutsideTheListIsTaken(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"cos\nsystem\n(S'true'\ntR.", `byte 0: the pickle asks for "system" from "os"`},
		{"\x80\x02c__builtin__\neval\n.", `byte 2: the pickle asks for "eval" from "__builtin__"`},
		{"cnumpy.core.multiarray\n_reconstruct\ncnumpy\ndtype\n\x85R.", "numpy _reconstruct is called with arguments that graph files do not use"},
		{"ccollections\ndefaultdict\n)R.", "collections defaultdict is called with arguments"},
		{"c" + strings.Repeat("a", 200) + "\nb\n.", "the name of a global has 201 characters"},
		{"K\x01)R.", "a number is called with a tuple of 0: expected a global and a tuple"},
		{"c__builtin__\nlist\n}b.", "list is given the state a dictionary"},
	} {
		_, err := Read([]byte(c.pickle))
		assert.ErrorContains(t, err, c.want)
	}
}

func TestEachMalformedPickleIsAnErrorWithItsOffset(t *testing.T) {
	long := strings.Repeat("9", 100)
	for _, c := range []struct{ pickle, want string }{
		{"", "byte 0: the file ends too early: 0 bytes are left where 1 are needed"},
		{"K\x01", "byte 2: the file ends too early"},
		{"M\x01", "byte 0: the file ends too early: 1 bytes are left where 2 are needed"},
		{".", "byte 0: a value is missing from the stack"},
		{"K\x01K\x02.", "byte 4: the pickle ends with 1 values too many"},
		{"(K\x01.", "byte 3: the pickle ends with 0 values too many"},
		{"K\x01.K", "byte 2: 1 bytes follow the end"},
		{"\x80\x05N.", "byte 0: pickle protocol 5: expected 0 to 3"},
		{"\xff", "byte 0: opcode 0xff is not one"},
		{"K\x01K\x02a.", "byte 4: items are added to a number: expected a list"},
		{"K\x01K\x02K\x03s.", "entries are set in a number: expected a dictionary"},
		{"}(K\x01u.", "a dictionary's last key has no value"},
		{"(K\x01a.", "a value is missing from the stack"},
		{"t.", "byte 0: a mark is missing"},
		{"h\x05.", "byte 0: value 5 is asked for before it was kept"},
		{"gx\n.", `"x" is not the number of a kept value`},
		{"g" + long + "\n.", "is not the number of a kept value"},
		{"I12", "the file ends in the middle of a line"},
		{"Iabc\n.", `"abc" is not a 64-bit integer`},
		{"I99999999999999999999\n.", "is not a 64-bit integer"},
		{"L" + long + "L\n.", "a number of 100 characters: expected at most 32"},
		{"Fx\n.", `"x" is not a number`},
		{"F" + long + "\n.", "a number of 100 characters: expected at most 64"},
		{"\x8a\x09123456789.", "an integer of 9 bytes"},
		{"Sabc\n.", "a string is not in quotes"},
		{"S'\\q'\n.", `escape \q in a string`},
		{"S'\\x4'\n.", "a string ends in the middle of an escape"},
		{"S'\\xzz'\n.", "expected 2 hex digits"},
		{"S'\\'\n.", "a string ends in the middle of an escape"},
		{"V\\u12\n.", "a string ends in the middle of an escape"},
		{"cnumpy\ndtype\nU\x02O8\x85R.", `a dtype "O8": expected integers`},
		{"cnumpy\ndtype\nU\x02S4\x85R.", `a dtype "S4": expected integers`},
		{"cnumpy\ndtype\nU\x02i4\x85R(K\x03U\x01!tb.", `a byte order "!"`},
		{"cnumpy\ndtype\nU\x02i4\x85RNb.", "a dtype's state is None"},
		{"c_codecs\nencode\nX\x03\x00\x00\x00\xe2\x82\xacU\x06latin1\x86R.", "character U+20AC is not in Latin-1"},
		{"c_codecs\nencode\nX\x01\x00\x00\x00aU\x03hex\x86R.", `as "hex": expected`},
		{"cnumpy.core.multiarray\nscalar\nNN\x86R.", "a numpy number made of None and None"},
	} {
		_, err := Read([]byte(c.pickle))
		if assert.ErrorContains(t, err, c.want, "%q", c.pickle) {
			assert.IsType(t, &Error{}, err)
		}
	}
}

// arrayPickle is Python 2's pickle of an array whose state after the version is given.
func arrayPickle(state string) []byte {
	return []byte("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" + state + "tb.")
}

func TestArraysMustHoldWhatTheirShapeSays(t *testing.T) {
	const dtype = "cnumpy\ndtype\nU\x02i4\x85R"
	for _, c := range []struct{ state, want string }{
		{"K\x02\x85" + dtype + "\x89U\x04abcd", "an array of shape [2], 4 bytes a number, has 4 bytes of numbers: expected 8"},
		{"J\xff\xff\xff\xff\x85" + dtype + "\x89U\x00", "an array's size 0 is a number (-1): expected 0 to"},
		{"\x8a\x04\xff\xff\xff\x7f\x85" + dtype + "\x89U\x00", "an array's size 0 is a number (2147483647)"},
		{"N\x85" + dtype + "\x89U\x00", "an array's size 0 is None"},
		{"K\x01K\x01K\x01\x87" + dtype + "\x89U\x04abcd", "expected a shape of at most 2 sizes"},
		{"K\x01K\x01\x86" + dtype + "\x88U\x04abcd", "an array in Fortran's order"},
		{"K\x01\x85N\x89U\x04abcd", "expected a shape of at most 2 sizes, a dtype, a boolean and a string"},
		{"K\x01\x85", "an array's state is a tuple of 2: expected a tuple of 5"},
	} {
		_, err := Read(arrayPickle(c.state))
		assert.ErrorContains(t, err, c.want)
	}
	v, err := Read(arrayPickle("K\x01\x85" + dtype + "\x89U\x04\x01\x00\x00\x00"))
	require.NoError(t, err)
	a := v.(*Array)
	assert.Equal(t, int64(1), a.Int(0))
	v, err = Read(arrayPickle("K\x01\x85cnumpy\ndtype\nU\x02f2\x85R\x89U\x02\x00\x3e"))
	require.NoError(t, err)
	assert.Equal(t, 1.5, v.(*Array).Float(0), "a half")
}

func TestNoPickleGrowsBeyondItsLimits(t *testing.T) {
	put := func(n int) (b []byte) {
		b = []byte("N")
		for i := range n {
			b = binary.LittleEndian.AppendUint32(append(b, 'r'), uint32(i))
		}
		return append(b, '.')
	}
	for _, c := range []struct {
		pickle []byte
		want   string
	}{
		{[]byte(strings.Repeat("N", maxStack+1)), "more than 65536 values on the stack"},
		{[]byte(strings.Repeat("(", maxStack+1)), "more than 65536 open marks"},
		{put(maxMemo + 1), "more than 1048576 values are kept"},
		{[]byte("]" + strings.Repeat("}a", 5<<20)), "this pickle's values take more than 256.0 MiB"},
		// One megabyte, kept once and decoded a thousand times.
		{[]byte("X\x00\x00\x10\x00" + strings.Repeat("a", 1<<20) + "q\x00U\x06latin1q\x01" + strings.Repeat("c_codecs\nencode\nh\x00h\x01\x86R0", 1000)), "values take more than 256.0 MiB"},
		{make([]byte, MaxSize+1), "a pickle of 64.0 MiB: expected at most 64.0 MiB"},
	} {
		_, err := Read(c.pickle)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestBytesAreWrittenForPeople(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", math.MaxInt32: "2.0 GiB", math.MaxUint64: "16.0 EiB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
