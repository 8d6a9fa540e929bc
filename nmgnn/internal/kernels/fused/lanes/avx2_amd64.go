package lanes

import "golang.org/x/sys/cpu"

// HaveAVX2 reports whether this CPU has AVX2. If not, call no function of avx2.go.
func HaveAVX2() bool { return cpu.X86.HasAVX2 }

//go:noescape
func addRows64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32)

//go:noescape
func addRows8x8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32)

//go:noescape
func addFours64(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)

//go:noescape
func addFours32(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)

//go:noescape
func addFours16(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)

//go:noescape
func addFours8(y, h *float32, columns *int32, n, stride int, weights *float32, positions *int32, step int)

//go:noescape
func drop8(y, x *float32, n int, first, key0, key1, bound uint32, scale float32)
