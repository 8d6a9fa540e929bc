package gomlx

import "math/rand/v2"

// HostRandom returns a host generator for one purpose in one trial. With separate streams, runs with and without
// masking have the same initial weights and dropped features.
func HostRandom(seed uint64, purpose string) *rand.Rand { return rand.New(HostSource(seed, purpose)) }

// HostSource returns the source of [HostRandom], whose state can be saved.
func HostSource(seed uint64, purpose string) *rand.PCG {
	// FNV-1a of the purpose is stable across versions and platforms, unlike maphash.
	h := uint64(14695981039346656037)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.NewPCG(seed, h)
}
