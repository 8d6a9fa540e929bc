// Package home keeps go-xla from logging to standard error when $HOME is empty or unset.
//
// Go initialises packages by path once their imports are ready. This package imports only os, so it precedes go-xla,
// which waits for path/filepath.
package home

import "os"

var restore = standIn()

// standIn points an empty or unset $HOME at a missing folder, and returns a function that restores it.
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

// Restore resets $HOME to its value at the start and returns any error. main calls it first.
func Restore() error { return restore() }
