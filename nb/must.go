package nb

import (
	"fmt"
	"os"
	"strings"
)

// Must ends the cell on an error, printed on one line.
func Must(err error) {
	if err != nil {
		// Joined errors have several lines.
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
		os.Exit(1)
	}
}

// Must1 returns value, after [Must] of err.
func Must1[T any](value T, err error) T {
	Must(err)
	return value
}
