package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// Get returns how much more memory this process may take: what is available on the machine, or what its control groups
// or its limit on addresses leave, if that is less. Where the system does not say it is not found, and no limit.
func Get() (Left, bool) {
	system := os.DirFS("/")
	all := append(machine(system), groups(system)...)
	if most, limited := Addresses(); limited {
		pages, _ := numberOf(system, "proc/self/statm", "")
		all = append(all, Left{most - pages*int64(os.Getpagesize()), "the address space (ulimit -v)"})
	}
	return least(all)
}

// Resident returns how many bytes of memory this process has in use; 0 where the system does not say.
func Resident() int64 {
	kilobytes, _ := numberOf(os.DirFS("/"), "proc/self/status", "VmRSS:")
	return kilobytes << 10
}

// Addresses returns how many bytes of addresses this process may have, if they are limited ("ulimit -v").
func Addresses() (bytes int64, limited bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil || l.Cur >= unlimited {
		return 0, false
	}
	return int64(l.Cur), true
}
