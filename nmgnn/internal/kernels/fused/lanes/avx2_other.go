//go:build !amd64

package lanes

// HaveAVX2 returns false: no vector instructions are used on this CPU.
func HaveAVX2() bool { return false }

// These functions are nil: calling them panics.
var (
	addRows64, addRows8x8 func(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32)

	addFours64, addFours32, addFours16, addFours8 func(y, h *float32, columns *int32, n, stride int, weights *float32,
		positions *int32, step int)

	drop8 func(y, x *float32, n int, first, key0, key1, bound uint32, scale float32)
)
