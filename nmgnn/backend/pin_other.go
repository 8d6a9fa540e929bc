//go:build !linux

package backend

// onOneCore does nothing here: threads cannot be bound to cores.
func onOneCore(int) error { return nil }
