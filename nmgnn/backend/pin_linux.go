package backend

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onOneCore binds the calling goroutine for good to one core, chosen by the job's number. XLA's threads inherit the
// core of the goroutine that opens a backend, so jobs do not compete for cores.
func onOneCore(job int) error {
	var allowed, one unix.CPUSet
	// The goroutine stays locked to its thread, so the thread ends with the goroutine.
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
