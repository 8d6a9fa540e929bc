package graphfile

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNumbersAreParsedAsTheyAreWrittenOnly(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "-7": -7, "9223372036854775807": 1<<63 - 1,
		"-9223372036854775808": -1 << 63} {
		n, ok := ParseNumber(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, n)
	}
	for _, text := range []string{"", "-", "-0", "00", "007", "+1", "1.0", "1e3", " 1", "١", "9223372036854775808",
		"-9223372036854775809", "19999999999999999999", "a"} {
		_, ok := ParseNumber([]byte(text))
		assert.False(t, ok, text)
	}
}

// Exactly the added ids are found, before and after sealing.
func TestAnIndexIsAMap(t *testing.T) {
	id := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("01-a")), 1, 3, -1), rapid.Custom(func(t *rapid.T) string {
		return strconv.FormatInt(rapid.Int64().Draw(t, "n"), 10)
	}))
	rapid.Check(t, func(t *rapid.T) {
		var x IDs
		want := map[string]int32{}
		for _, name := range rapid.SliceOf(id).Draw(t, "ids") {
			node := int32(len(want))
			old, ok := want[name]
			found, again := x.Add(name, node)
			require.Equal(t, ok, again, name)
			if ok {
				require.Equal(t, old, found)
				continue
			}
			want[name] = node
		}
		other := rapid.SliceOf(id).Draw(t, "others")
		for range 2 {
			for name, node := range want {
				found, ok := x.Find([]byte(name))
				require.True(t, ok, name)
				require.Equal(t, node, found)
				if n, err := strconv.ParseInt(name, 10, 64); err == nil && strconv.FormatInt(n, 10) == name {
					found, ok = x.FindNumber(n)
					require.True(t, ok, name)
					require.Equal(t, node, found)
				}
			}
			for _, name := range other {
				_, ok := want[name]
				_, is := x.Find([]byte(name))
				require.Equal(t, ok, is, name)
			}
			x.Seal()
		}
	})
}
