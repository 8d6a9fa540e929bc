package pickle

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/numpy"
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
		v, err := Read([]byte(pickle), free)
		require.NoError(t, err, "%q", pickle)
		assert.Equal(t, want, v, "%q", pickle)
	}
}

func TestSevenBytesCannotAskForTwoGigabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read([]byte{0x80, 2, 0x54, 0xff, 0xff, 0xff, 0x7f}, free)
	runtime.ReadMemStats(&after)
	assert.EqualError(t, err, "byte 2: the file ends too early: 0 bytes are left where 2147483647 are needed")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestEachMalformedPickleIsAnErrorWithItsOffset(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"", "byte 0: the file ends too early: 0 bytes are left where 1 are needed"},
		{"K\x01", "byte 2: the file ends too early"},
		{"M\x01", "byte 0: the file ends too early: 1 bytes are left where 2 are needed"},
		{"\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "0 bytes are left where 18446744073709551615 are needed"},
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
		{"ccollections\ndefaultdict\n)R.", "defaultdict is called with a tuple of 0"},
		{"c" + strings.Repeat("a", 200) + "\nb\n.", "the name of a global has 201 characters"},
		{"K\x01)R.", "a number is called with a tuple of 0, which graph files do not do"},
		{"c__builtin__\nlist\n}b.", "list is given the state a dictionary"},
		{"cscipy.sparse.csr\ncsr_matrix\n)\x81Nb.", "is given the state None"},
		{"cscipy.sparse.csr\ncsr_matrix\n)\x81}b}b.", "is given the state a dictionary"},
		{"I12\n.", "byte 0: opcode 0x49 is not one that graph files use"},
		{"(K\x01l)Q.", "BINPERSID: a tuple of 0: expected"},
	} {
		_, err := Read([]byte(c.pickle), free)
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
	for state, want := range map[string]string{
		"K\x02\x85" + dtype + "\x89U\x04abcd":                "an array: shape [2] of int32 does not fit 4 bytes",
		"J\xff\xff\xff\xff\x85" + dtype + "\x89U\x00":        "an array: shape [-1]",
		"\x8a\x04\xff\xff\xff\x7f\x85" + dtype + "\x89U\x00": "shape [2147483647] of int32 does not fit 0 bytes",
		"N\x85" + dtype + "\x89U\x00":                        "a shape is a tuple of 1: expected a tuple of at most 8 numbers",
		"K\x01\x85":                                          "is given the state a tuple of 2",
	} {
		_, err := Read(arrayPickle(state), free)
		assert.ErrorContains(t, err, want)
	}
	array := func(state string) *numpy.Array {
		v, err := Read(arrayPickle(state), free)
		require.NoError(t, err)
		return v.(*numpy.Array)
	}
	assert.EqualValues(t, 1, array("K\x01\x85"+dtype+"\x88U\x04\x01\x00\x00\x00").Int(0, 0))
	assert.Zero(t, array("K\x00\x85"+dtype+"\x89U\x00").Len())
	assert.Equal(t, 1.5, array("K\x01\x85cnumpy\ndtype\nU\x02f2\x85R\x89U\x02\x00\x3e").Float(0, 0), "a half")
	assert.Nil(t, array("K\x01\x85cnumpy\ndtype\nU\x02O8\x85R\x89](Ne").Shape, "objects are passed over")
	for _, name := range []string{"matrix-3", "python2-matrix"} {
		data, err := os.ReadFile(filepath.Join(pickles, name+".pickle"))
		require.NoError(t, err)
		v, err := Read(data, free)
		require.NoError(t, err)
		indptr := v.(*Object).State.Get("indptr").(*numpy.Array)
		assert.Equal(t, []int64{0, 1, 1, 3}, []int64{indptr.Int(0, 0), indptr.Int(1, 0), indptr.Int(2, 0), indptr.Int(3, 0)})
	}
}

func TestNoPickleGrowsBeyondItsBudget(t *testing.T) {
	for _, pickle := range []string{strings.Repeat("N", 1<<20), strings.Repeat("(", 1<<20), "N" + strings.Repeat("\x94", 1<<20),
		"]" + strings.Repeat("}a", 1<<20)} {
		left := int64(1 << 20)
		_, err := Read([]byte(pickle), func(bytes int64) error {
			if left -= bytes; left < 0 {
				return errors.New("too much")
			}
			return nil
		})
		assert.ErrorContains(t, err, ": too much")
	}
}

func free(int64) error { return nil }

// pickles is the folder that testdata/makepickles.py wrote.
const pickles = "testdata/pickles"

func FuzzPickle(f *testing.F) {
	seeds, err := os.ReadDir(pickles)
	require.NoError(f, err)
	require.NotEmpty(f, seeds)
	for _, seed := range seeds {
		data, err := os.ReadFile(filepath.Join(pickles, seed.Name()))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add(arrayPickle("K\x01\x85cnumpy\ndtype\nU\x02f2\x85R(K\x03U\x01>tb\x89U\x02\x00\x3e"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Read(data, free)
		require.NotErrorIs(t, err, ErrMistake)
		Describe(v)
	})
}
