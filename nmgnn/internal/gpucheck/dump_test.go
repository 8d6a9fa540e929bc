//go:build cgo && linux && amd64

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// XLA's loops for f32 on Hopper: an addition, a maximum, and an addition that has an instruction.
func TestAFloatAddByCompareAndSwapIsFound(t *testing.T) {
	const add, highest, native = `
$L__BB0_3:
	mov.b32 %f2, %r9;
	add.rn.f32 %f3, %f2, %f1;
	mov.b32 %r8, %f3;
	atom.global.cas.b32 %r10, [%rd1], %r9, %r8;
	setp.ne.s32 %p2, %r10, %r9;
	@%p2 bra $L__BB0_3;
`, `
$L__BB1_3:
	max.f32 %f3, %f2, %f1;
	atom.global.cas.b32 %r10, [%rd1], %r9, %r8;
	@%p2 bra $L__BB1_3;
`, `
$L__BB2_1:
	add.rn.f32 %f3, %f2, %f1;
	atom.global.add.f32 %f4, [%rd1], %f3;
`
	require.Equal(t, 1, swappedAdds(native+add+highest))
	require.Zero(t, swappedAdds(native+highest))
	m := measured{alias: 1, swapped: 1}
	require.Equal(t, []string{"x epoch for h100: 1 float additions are compare-and-swap loops: expected native ones " +
		"(openxla/xla#46225)"}, limits{"x epoch h100": {}}.holds("x epoch", "h100", m))
}
