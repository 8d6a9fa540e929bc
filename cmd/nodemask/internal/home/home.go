// Package home keeps go-xla quiet where $HOME names no folder: when its packages are initialised, before main begins,
// they look for a folder there, and log to standard error that there is none.
//
// Packages are initialised in the order of their paths as soon as all that they import is. This one imports nothing but
// os, so its turn comes before that of go-xla, which waits for path/filepath among others.
package home

import "os"

var restore = standIn()

// standIn sets $HOME to a folder that does not exist if it is empty or unset, and returns what restores it.
func standIn() func() error {
	home, set := os.LookupEnv("HOME")
	if home != "" || os.Setenv("HOME", "/nonexistent") != nil {
		return func() error { return nil }
	}
	if set {
		return func() error { return os.Setenv("HOME", "") }
	}
	return func() error { return os.Unsetenv("HOME") }
}

// Restore makes $HOME what it was when the program began. main calls it first.
func Restore() error { return restore() }
