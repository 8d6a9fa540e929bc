package nb

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Must ends the cell if there is an error, with one line that says what is wrong and no stack trace.
func Must(err error) {
	if err != nil {
		fail(os.Stderr, err)
		os.Exit(1)
	}
}

// Must1 is [Must] for a function that returns a value too, and passes the value on.
func Must1[T any](value T, err error) T {
	Must(err)
	return value
}

// fail writes an error as one line. Joined errors come in several.
func fail(w io.Writer, err error) {
	fmt.Fprintln(w, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}
