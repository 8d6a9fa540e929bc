package classes

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
