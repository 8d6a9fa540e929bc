// Package digits says which digits XLA computes on a CPU: the same on every x86-64 with AVX2, which is the default
// there, or the processor's own, which all records before had.
package digits

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
)

// The digits, as [Variable] has them.
const (
	AVX2      = "avx2"
	Processor = "processor"
)

// Variable is the environment variable that chooses between them. It is read when XLA is first opened.
const Variable = "NODEMASK_DIGITS"

// Asked returns which digits XLA on a CPU computes, or an error if [Variable] is none of them.
func Asked() (string, error) {
	switch asked := os.Getenv(Variable); {
	case asked != "" && asked != AVX2 && asked != Processor:
		return "", fmt.Errorf("%s is %.40q: expected %s or %s", Variable, asked, AVX2, Processor)
	case asked == Processor || !HasAVX2():
		return Processor, nil
	}
	return AVX2, nil
}

// HasAVX2 reports whether this processor can compute [AVX2].
func HasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
