package memory

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Parse returns the bytes of a size such as 2GiB, 500MB, 2G or 1000000, at least one. 2G means the smaller 2GB, a safe
// limit.
func Parse(text string) (bytes int64, err error) {
	units := []struct {
		name string
		size float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
		{"TB", 1e12}, {"B", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x*u.size >= 1 && x*u.size < math.MaxInt64) {
			break
		}
		return int64(x * u.size), nil
	}
	return 0, errors.New("expected a size such as 2GiB or 500MB")
}
