package backend

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onOneCore ties the calling goroutine, for the rest of its life, to the job's share of the cores: one, in turn. XLA
// sizes its thread pool by the cores that the thread which opens it may use, and the pool's threads inherit them. So
// jobs that each open a backend of their own after this call do not get into each other's way.
func onOneCore(job int) error {
	var allowed, one unix.CPUSet
	// Never unlocked: the thread ends with the goroutine, and its limits with it.
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
