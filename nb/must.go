package nb

import (
	"fmt"
	"os"
	"strings"
)

// Must prints an error on one line and ends the notebook cell. If err is nil, Must does nothing.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
		os.Exit(1)
	}
}

// Must1 calls [Must] with err and returns value.
func Must1[T any](value T, err error) T {
	Must(err)
	return value
}
