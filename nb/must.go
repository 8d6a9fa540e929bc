package nb

import (
	"fmt"
	"os"
	"strings"
)

// Must ends the cell if there is an error, with one line that says what is wrong and no stack trace.
func Must(err error) {
	if err != nil {
		// Joined errors come in several lines.
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
		os.Exit(1)
	}
}

// Must1 is [Must] for a function that returns a value too, and passes the value on.
func Must1[T any](value T, err error) T {
	Must(err)
	return value
}
