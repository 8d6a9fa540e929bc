//go:build !linux

package memory

// Get returns false: this system does not report how much memory a process may take.
func Get() (Left, bool) { return least(nil) }

// Addresses returns false: no limit on the address space is known here.
func Addresses() (bytes int64, limited bool) { return 0, false }
