//go:build !amd64

package simd

// Have says that there are no vector instructions here.
func Have() bool { return false }

func addRows64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32) {
	panic("simd: not for this processor")
}

func addRows8x8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32) {
	panic("simd: not for this processor")
}

func drop8(y, x *float32, n int, first, key0, key1, bound uint32, scale float32) {
	panic("simd: not for this processor")
}
