//go:build !linux

package memory

// Get returns false: this system does not report how much memory a process may take.
func Get() (Left, bool) { return least(nil) }

// addresses returns false: no limit on the address space is known here.
func addresses() (bytes int64, limited bool) { return 0, false }
