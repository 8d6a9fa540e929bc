//go:build !linux

package backend

// onOneCore does nothing outside Linux.
func onOneCore(int) error { return nil }
