package variables

import "math/rand/v2"

// HostRandom returns a generator on the host for one purpose of one trial. Purposes have streams of their own, so that
// runs with and without masking start from the same weights and drop the same features.
func HostRandom(seed uint64, purpose string) *rand.Rand { return rand.New(HostSource(seed, purpose)) }

// HostSource returns what [HostRandom] draws from, whose state can be kept.
func HostSource(seed uint64, purpose string) *rand.PCG {
	// FNV-1a of the purpose: stable across versions and platforms, which a map's or maphash's hash is not.
	h := uint64(14695981039346656037)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.NewPCG(seed, h)
}
