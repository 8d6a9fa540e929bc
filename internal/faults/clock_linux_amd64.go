package faults

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers of Linux's that package syscall lacks.
const (
	sysinfoEntry  = 33 // of the auxiliary vector: where the calls lie that need no system call
	ignoredEntry  = 1
	waitAll       = 0x40000000
	waitOwn       = 0x20000000 // children of this thread alone
	killWithUs    = 0x00100000
	syscallMark   = 0x80
	wallClock     = 0
	notYetReturns = ^uint64(syscall.ENOSYS) + 1 // what stands for the result before a call is made
)

// Jumping runs a program whose wall clock is moved by so many seconds each time that it is read; the monotonic clock goes on as it does. It
// requires that the program ends well, and returns what it said. Where processes cannot be traced the test is skipped.
func Jumping(t *testing.T, path string, args, env []string, jump func(reading int) int64) (said string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	code, err := trace(path, args, env, out, jump)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("skipped: processes cannot be traced here")
	}
	require.NoError(t, err)
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Zero(t, code, string(text))
	return string(text)
}

// trace returns the program's exit code.
func trace(path string, args, env []string, out *os.File, jump func(reading int) int64) (code int, err error) {
	runtime.LockOSThread() // the thread that traces
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(path, append([]string{path}, args...), &syscall.ProcAttr{Env: env, Files: []uintptr{0, out.Fd(), out.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, waitAll, nil); err != nil {
		return 0, err
	}
	if err := withoutVDSO(pid); err != nil {
		return 0, err
	}
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|syscall.PTRACE_O_TRACEFORK|syscall.PTRACE_O_TRACEVFORK|killWithUs); err != nil {
		return 0, err
	}
	thread, signal, readings := pid, 0, 0
	for {
		if err := syscall.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, err
		}
		if thread, err = syscall.Wait4(-1, &status, waitAll|waitOwn, nil); err != nil {
			return 0, err
		}
		for signal = 0; status.Exited() || status.Signaled(); {
			if thread == pid {
				return status.ExitStatus(), nil
			}
			if thread, err = syscall.Wait4(-1, &status, waitAll|waitOwn, nil); err != nil {
				return 0, err
			}
		}
		switch stop := status.StopSignal(); {
		case stop == syscall.SIGTRAP|syscallMark:
			moved, err := move(thread, jump(readings))
			if err != nil && !errors.Is(err, syscall.ESRCH) {
				return 0, err
			}
			if moved {
				readings++
			}
		case stop != syscall.SIGTRAP && stop != syscall.SIGSTOP: // not of tracing
			signal = int(stop)
		}
	}
}

// move moves what a thread that has just read the wall clock has read.
func move(thread int, seconds int64) (moved bool, err error) {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil {
		return false, err
	}
	at := uintptr(r.Rsi)
	switch {
	case r.Rax == notYetReturns:
		return false, nil
	case r.Orig_rax == syscall.SYS_CLOCK_GETTIME && int32(r.Rdi) == wallClock:
	case r.Orig_rax == syscall.SYS_GETTIMEOFDAY:
		at = uintptr(r.Rdi)
	default:
		return false, nil
	}
	word := make([]byte, 8)
	if _, err := syscall.PtracePeekData(thread, at, word); err != nil {
		return false, err
	}
	binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)+uint64(seconds))
	_, err = syscall.PtracePokeData(thread, at, word)
	return true, err
}

// withoutVDSO has a program that is about to start read its clocks by system calls, which can be seen.
func withoutVDSO(pid int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return err
	}
	at := uintptr(r.Rsp)
	next := func() (uint64, error) {
		word := make([]byte, 8)
		_, err := syscall.PtracePeekData(pid, at, word)
		at += 8
		return binary.LittleEndian.Uint64(word), err
	}
	arguments, err := next()
	if err != nil {
		return err
	}
	at += 8 * uintptr(arguments+1)
	for {
		variable, err := next()
		if err != nil {
			return err
		}
		if variable == 0 {
			break
		}
	}
	for {
		key, err := next()
		if err != nil {
			return err
		}
		switch key {
		case 0:
			return fmt.Errorf("the program is not told of a vDSO")
		case sysinfoEntry:
			_, err := syscall.PtracePokeData(pid, at-8, binary.LittleEndian.AppendUint64(nil, ignoredEntry))
			return err
		}
		at += 8
	}
}
