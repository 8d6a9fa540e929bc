package pickle

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNumbersAndStringsAreRead(t *testing.T) {
	for pickle, want := range map[string]any{
		"\x80\x03\x88.": true, "\x89.": false, "N.": None{}, "G@\x02\x00\x00\x00\x00\x00\x00.": 2.25,
		"K\xff.": int64(255), "M\x2c\x01.": int64(300), "J\xff\xff\xff\xff.": int64(-1), "\x8a\x00.": int64(0),
		"\x8a\x06\x00\x00\x00\x00\x00\x01.": int64(1 << 40), "\x8a\x06\x00\x00\x00\x00\x00\xff.": int64(-1 << 40),
		"X\x06\x00\x00\x00h\xc3\xa9\n'\".": String("h\xc3\xa9\n'\""), "U\x02\x00\xff.": String("\x00\xff"),
		"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.": int64(math.MinInt64), "K\x05q\x00h\x00\x86.": Tuple{int64(5), int64(5)},
		"}(K\x01K\x02K\x03K\x04u.": &Dict{Entries: []Entry{{int64(1), int64(2)}, {int64(3), int64(4)}}},
		"C\x01a.":                  String("a"), "B\x01\x00\x00\x00a.": String("a"), "T\x01\x00\x00\x00a.": String("a"),
	} {
		v, err := Read([]byte(pickle))
		require.NoError(t, err, "%q", pickle)
		assert.Equal(t, want, v, "%q", pickle)
	}
}

func TestSevenBytesCannotAskForTwoGigabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read([]byte{0x80, 2, 0x54, 0xff, 0xff, 0xff, 0x7f})
	runtime.ReadMemStats(&after)
	assert.EqualError(t, err, "byte 2: this pickle asks for 2.1 GB in one piece; a graph file needs at most 67 MB")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestNoGlobalOutsideTheListIsTaken(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"cos\nsystem\n(U\x04truetR.", `byte 0: the pickle asks for "system" from "os"`},
		{"\x80\x02c__builtin__\neval\n.", `byte 2: the pickle asks for "eval" from "__builtin__"`},
		{"cnumpy.core.multiarray\n_reconstruct\ncnumpy\ndtype\n\x85R.",
			"numpy _reconstruct is called with arguments that graph files do not use"},
		{"ccollections\ndefaultdict\n)R.", "collections defaultdict is called with arguments"},
		{"c" + strings.Repeat("a", 200) + "\nb\n.", "the name of a global has 201 characters"},
		{"K\x01)R.", "a number is called with arguments that graph files do not use"},
		{"c__builtin__\nlist\n}b.", "list is given the state a dictionary"},
	} {
		_, err := Read([]byte(c.pickle))
		assert.ErrorContains(t, err, c.want)
	}
}

func TestEachMalformedPickleIsAnErrorWithItsOffset(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"", "byte 0: the file ends too early: 0 bytes are left where 1 are needed"},
		{"K\x01", "byte 2: the file ends too early"},
		{"M\x01", "byte 0: the file ends too early: 1 bytes are left where 2 are needed"},
		{".", "byte 0: a value is missing from the stack"},
		{"K\x01K\x02.", "byte 4: the pickle ends with 1 values too many"},
		{"(K\x01.", "byte 3: the pickle ends with 0 values too many"},
		{"K\x01.K", "byte 2: 1 bytes follow the end"},
		{"\x80\x06N.", "byte 0: pickle protocol 6: expected 0 to 5"},
		{"\xff", "byte 0: opcode 0xff is not one"},
		{"K\x01K\x02a.", "byte 4: items are added to a number: expected a list"},
		{"K\x01K\x02K\x03s.", "entries are set in a number: expected a dictionary"},
		{"}(K\x01u.", "a dictionary's last key has no value"},
		{"(K\x01a.", "a value is missing from the stack"},
		{"t.", "byte 0: a mark is missing"},
		{"h\x05.", "byte 0: value 5 is asked for before it was kept"},
		{"cnumpy", "the file ends in the middle of a line"},
		{"\x8a\x09123456789.", "an integer of 9 bytes"},
		{"cnumpy\ndtype\nU\x02O8\x85R.", `a dtype "O8": expected integers`},
		{"cnumpy\ndtype\nU\x02S4\x85R.", `a dtype "S4": expected integers`},
		{"cnumpy\ndtype\nU\x02i4\x85R(K\x03U\x01!tb.", `a byte order "!"`},
		{"cnumpy\ndtype\nU\x02i4\x85RNb.", "a dtype's state is None"},
		{"cscipy.sparse.csr\ncsr_matrix\n)\x81Nb.", "is given the state None"},
		{"cscipy.sparse.csr\ncsr_matrix\n)\x81}b}b.", "is given the state a dictionary"},
		{"I12\n.", "byte 0: opcode 0x49 is not one that graph files use"},
		{"(K\x01l)Q.", "BINPERSID: a tuple of 0: expected a tuple of 5"},
	} {
		_, err := Read([]byte(c.pickle))
		if assert.ErrorContains(t, err, c.want, "%q", c.pickle) {
			assert.IsType(t, &Error{}, err)
		}
	}
}

// arrayPickle is Python 2's pickle of an array with this state after the version.
func arrayPickle(state string) []byte {
	return []byte("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" + state + "tb.")
}

func TestArraysMustHoldWhatTheirShapeSays(t *testing.T) {
	const dtype = "cnumpy\ndtype\nU\x02i4\x85R"
	for _, c := range []struct{ state, want string }{
		{"K\x02\x85" + dtype + "\x89U\x04abcd",
			"an array of shape [2], 4 bytes a number, has 4 bytes of numbers: expected 8"},
		{"J\xff\xff\xff\xff\x85" + dtype + "\x89U\x00", "an array's size 0 is a number (-1): expected 0 to"},
		{"\x8a\x04\xff\xff\xff\x7f\x85" + dtype + "\x89U\x00", "an array's size 0 is a number (2147483647)"},
		{"N\x85" + dtype + "\x89U\x00", "an array's size 0 is None"},
		{"K\x01K\x01K\x01\x87" + dtype + "\x89U\x04abcd", "expected a shape of at most 2 sizes"},
		{"K\x01K\x01\x86" + dtype + "\x88U\x04abcd", "an array in Fortran's order"},
		{"K\x01\x85" + dtype + "NU\x04abcd", "expected a shape of at most 2 sizes, a dtype, a boolean and a string"},
		{"K\x01\x85" + dtype + "\x89N", "expected a shape of at most 2 sizes, a dtype, a boolean and a string"},
		{"K\x01\x85N\x89U\x04abcd", "expected a shape of at most 2 sizes, a dtype, a boolean and a string"},
		{"K\x01\x85", "an array's state is a tuple of 2: expected a tuple of 5"},
	} {
		_, err := Read(arrayPickle(c.state))
		assert.ErrorContains(t, err, c.want)
	}
	array := func(state string) *Array {
		v, err := Read(arrayPickle(state))
		require.NoError(t, err)
		return v.(*Array)
	}
	a := array("K\x01\x85" + dtype + "\x89U\x04\x01\x00\x00\x00")
	assert.Equal(t, int64(1), a.Int(0))
	assert.Equal(t, 1, a.Len())
	a = array("K\x01\x85" + dtype + "\x88U\x04\x01\x00\x00\x00")
	assert.Equal(t, 1, a.Len(), "of one dimension, both orders are the same")
	assert.Zero(t, array("K\x00\x85"+dtype+"\x89U\x00").Len())
	assert.Equal(t, 1.5, array("K\x01\x85cnumpy\ndtype\nU\x02f2\x85R\x89U\x02\x00\x3e").Float(0), "a half")
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
		{[]byte("]" + strings.Repeat("}a", 5<<20)), "this pickle's values take more than 268 MB"},
		{make([]byte, MaxSize+1), "a pickle of 67 MB: expected at most 67 MB"},
	} {
		_, err := Read(c.pickle)
		assert.ErrorContains(t, err, c.want)
	}
}
