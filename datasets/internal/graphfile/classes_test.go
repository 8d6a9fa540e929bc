package graphfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestClassOrderIsATotalOrder(t *testing.T) {
	names := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a01.-e")), 1, 6, -1), 3, 3)
	rapid.Check(t, func(t *rapid.T) {
		s := names.Draw(t, "names")
		order := classOrder(s)
		for _, a := range s {
			for _, b := range s {
				assert.Equal(t, order(a, b), -order(b, a))
				assert.Equal(t, a == b, order(a, b) == 0)
				for _, c := range s {
					if order(a, b) < 0 && order(b, c) < 0 {
						assert.Negative(t, order(a, c))
					}
				}
			}
		}
	})
}

func TestNumbersAndTruthsHaveOneNameInEveryFormat(t *testing.T) {
	for _, c := range []struct{ names, classes []string }{
		{[]string{"True", "False", "true"}, []string{"0", "1"}},
		{[]string{"2.0", "10", "2", "1.00"}, []string{"1", "2", "10"}},
		{[]string{"1.5", "1.0"}, []string{"1", "1.5"}},
		{[]string{"-0.0", "-3.0"}, []string{"-3", "-0.0"}},
		{[]string{"True", "maybe"}, []string{"True", "maybe"}},
		{[]string{"1.0", "one"}, []string{"1.0", "one"}},
	} {
		var x Classes
		labels := make([]int32, len(c.names))
		for v, name := range c.names {
			labels[v] = x.Add(name)
		}
		assert.Equal(t, c.classes, x.Finish(labels), c.names)
	}
	var x Classes
	labels := []int32{x.Add("True"), x.Add(""), x.Add("false"), x.Add("true")}
	assert.Equal(t, []string{"0", "1"}, x.Finish(labels))
	assert.Equal(t, []int32{1, Unlabelled, 0, 1}, labels, "nodes of two spellings are of one class")
}
