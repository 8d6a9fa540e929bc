// Package digits chooses which digits XLA computes on a CPU: the same on every x86-64 CPU with AVX2 (the default
// there), or the CPU's own, as in all older records.
package digits

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
)

// Values of [Variable].
const (
	AVX2      = "avx2"
	Processor = "processor"
)

// Variable is the environment variable that chooses the digits, read when XLA is first opened.
const Variable = "NODEMASK_DIGITS"

// Asked returns the digits that XLA computes on a CPU, or an error for an invalid [Variable].
func Asked() (string, error) {
	switch asked := os.Getenv(Variable); {
	case asked != "" && asked != AVX2 && asked != Processor:
		return "", fmt.Errorf("%s is %.40q: expected %s or %s", Variable, asked, AVX2, Processor)
	case asked == Processor || !HasAVX2():
		return Processor, nil
	}
	return AVX2, nil
}

// HasAVX2 reports whether this CPU can compute [AVX2].
func HasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
