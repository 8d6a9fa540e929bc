//go:build !linux && !darwin

package datasets

// enoughRoom: here a full disk is met while writing.
func enoughRoom(string, int64) error { return nil }
