package backend

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onOneCore binds the calling goroutine for good to a core, chosen by job. XLA's threads inherit that core, so jobs
// that open backends afterwards do not compete for cores.
func onOneCore(job int) error {
	var allowed, one unix.CPUSet
	// The goroutine stays locked, so the thread ends with it.
	runtime.LockOSThread()
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("which cores job %d may use: %w", job+1, err)
	}
	count := allowed.Count()
	if count < 2 {
		return nil
	}
	skip := job % count
	for cpu := range len(allowed) * 64 {
		if !allowed.IsSet(cpu) {
			continue
		}
		if skip == 0 {
			one.Set(cpu)
			break
		}
		skip--
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("giving job %d a core: %w", job+1, err)
	}
	return nil
}
