//go:build !amd64

package simd

// Have returns false: this package has no vector instructions for this processor.
func Have() bool { return false }

const absent = "simd: not written for this processor"

func addRows64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32) {
	panic(absent)
}

func addRows8x8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32) {
	panic(absent)
}

func addFours64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int) {
	panic(absent)
}

func addFours32(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int) {
	panic(absent)
}

func addFours16(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int) {
	panic(absent)
}

func addFours8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int) {
	panic(absent)
}

func drop8(y, x *float32, n int, first, key0, key1, bound uint32, scale float32) {
	panic(absent)
}
