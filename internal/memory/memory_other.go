//go:build !linux

package memory

import "runtime"

// Get returns how much more memory this process may take; here the system does not say.
func Get() (Left, bool) { return least(nil) }

// Resident returns how many bytes of memory this process has in use: those that Go knows of, since the system does not
// say.
func Resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// Addresses returns how many bytes of addresses this process may have; here they are not limited.
func Addresses() (bytes int64, limited bool) { return 0, false }
