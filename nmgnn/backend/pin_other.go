//go:build !linux

package backend

// onOneCore does nothing where threads cannot be tied to cores: jobs then share the backend's threads.
func onOneCore(int) error { return nil }
