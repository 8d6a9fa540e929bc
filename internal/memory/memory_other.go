//go:build !linux

package memory

import "runtime"

// Get returns false: this system does not report how much memory a process may take.
func Get() (Left, bool) { return least(nil) }

// Resident returns Go's memory in use, in bytes: this system does not report the process's.
func Resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// Addresses returns false: no limit on the address space is known here.
func Addresses() (bytes int64, limited bool) { return 0, false }
