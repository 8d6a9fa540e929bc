package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// Get returns how much more memory this process may take: the least that the machine, its control groups or its address
// limit leave; false if the system reports no limit.
func Get() (Left, bool) {
	system := os.DirFS("/")
	all := append(machine(system), groups(system)...)
	if most, limited := addresses(); limited {
		pages, _ := numberOf(system, "proc/self/statm", "")
		all = append(all, Left{most - pages*int64(os.Getpagesize()), "the address space (ulimit -v)"})
	}
	return least(all)
}

// addresses returns the limit on this process's address space in bytes, if limited ("ulimit -v").
func addresses() (bytes int64, limited bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil || l.Cur >= unlimited {
		return 0, false
	}
	return int64(l.Cur), true
}
