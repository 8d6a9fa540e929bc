package nmgnn

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func sample(t testing.TB, floats []float32, ints []int32, longs []int64, texts []string) []byte {
	t.Helper()
	c, err := newContainer("cache", map[string]int{"answer": 42})
	require.NoError(t, err)
	c.putFloats("floats", floats)
	c.putInts("ints", ints)
	c.putLongs("longs", longs)
	c.putStrings("texts", texts)
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, c.writeFile(path))
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	return all
}

func TestWhatIsPutIntoAContainerComesOutAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		floats := rapid.SliceOf(rapid.Float32Range(-1e30, 1e30)).Draw(rt, "floats")
		ints, longs := rapid.SliceOf(rapid.Int32()).Draw(rt, "ints"), rapid.SliceOf(rapid.Int64()).Draw(rt, "longs")
		texts := rapid.SliceOf(rapid.String()).Draw(rt, "texts")
		c, err := parseContainer(sample(t, floats, ints, longs, texts), "cache")
		require.NoError(t, err)
		var about struct{ Answer int }
		require.NoError(t, c.about(&about))
		require.Equal(t, 42, about.Answer)
		gotFloats, err := c.floats("floats")
		require.NoError(t, err)
		gotInts, err := c.ints("ints")
		require.NoError(t, err)
		gotLongs, err := c.longs("longs")
		require.NoError(t, err)
		gotTexts, err := c.strings("texts")
		require.NoError(t, err)
		require.Equal(t, append([]float32{}, floats...), gotFloats)
		require.Equal(t, append([]int32{}, ints...), gotInts)
		require.Equal(t, append([]int64{}, longs...), gotLongs)
		require.Equal(t, append([]string{}, texts...), gotTexts)
		_, err = c.floats("ints")
		require.ErrorContains(t, err, `no section "ints" of float32`)
	})
}

func TestADamagedContainerIsRefusedWhereverTheDamageIs(t *testing.T) {
	all := sample(t, []float32{1, 2, 3}, []int32{4}, []int64{5}, []string{"a", "bc"})
	for i := range all {
		for bit := range 8 {
			broken := append([]byte{}, all...)
			broken[i] ^= 1 << bit
			_, err := parseContainer(broken, "cache")
			require.Error(t, err, "bit %d of byte %d", bit, i)
		}
		_, err := parseContainer(all[:i], "cache")
		require.Error(t, err, "cut after %d bytes", i)
	}
	_, err := parseContainer(append(all, 0), "cache")
	require.Error(t, err)
	_, err = parseContainer(all, "model")
	require.ErrorContains(t, err, `this is a "cache" file, not a model`)
}

func TestAContainerThatCannotBeWrittenLeavesTheOldOneAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "x")
	c, err := newContainer("model", nil)
	require.NoError(t, err)
	require.ErrorContains(t, c.writeFile(path), "writing "+path)
	_, err = readContainer(t.TempDir(), "model")
	require.ErrorContains(t, err, "expected a file")
}

// FuzzContainer signs whatever it is given, so that what lies behind the checksum is reached too.
func FuzzContainer(f *testing.F) {
	all := sample(f, []float32{1, 2, 3}, []int32{4}, []int64{5}, []string{"a", "bc"})
	f.Add(all[:len(all)-sha256.Size])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		c, err := parseContainer(append(body, sum[:]...), "cache")
		if err != nil {
			return
		}
		for _, s := range c.header.Sections {
			_, _ = c.floats(s.Name)
			_, _ = c.ints(s.Name)
			_, _ = c.longs(s.Name)
			_, _ = c.strings(s.Name)
		}
	})
}
