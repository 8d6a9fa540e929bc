//go:build !linux

package memory

import "runtime"

// Get returns how much more memory this process may take, which this system does not report.
func Get() (Left, bool) { return least(nil) }

// Resident returns Go's memory in use, in bytes: this system does not report the process's.
func Resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// Addresses returns the limit on the address space: none here.
func Addresses() (bytes int64, limited bool) { return 0, false }
