//go:build !linux

package memory

// Get returns how much more memory this process may take; here the system does not say.
func Get() (Left, bool) { return Left{}, false }

// Addresses returns how many bytes of addresses this process may have; here they are not limited.
func Addresses() (bytes int64, limited bool) { return 0, false }
