package backend

import (
	"fmt"

	"github.com/gomlx/compute"

	"nodemask/nmgnn/internal/kernels/fused"
)

// Adopt makes a backend opened elsewhere sum over neighbours with this project's kernels; without them training takes
// ten times as long with XLA on a CPU. [Backend].Digits stays empty. Adopt returns an error unless the backend is
// GoMLX's pure-Go one or go-xla on a CPU or with CUDA.
func Adopt(b compute.Backend) (*Backend, error) {
	if b == nil {
		return nil, fmt.Errorf("the backend is nil: expected one that is open")
	}
	if fmt.Sprintf("%T", b) == "*gobackend.Backend" { // GoMLX does not export the type
		return &Backend{Backend: b, ID: pure, KernelsLost: fused.Intercepted(), asked: pure, end: fused.Hasten(b)}, nil
	}
	plugin, platform, err := adoptXLA(b)
	if err != nil {
		return nil, fmt.Errorf("adopting the backend %q: %w", b.Name(), err)
	}
	opened := &Backend{Backend: b, Plugin: plugin, asked: "xla:" + plugin}
	switch platform {
	case "cpu":
		opened.ID, opened.KernelsLost = onCPU, fused.Register(b, plugin)
	case "cuda":
		opened.ID = onGPU
	default:
		return nil, fmt.Errorf("adopting the backend %q: it computes on %s: expected cpu or cuda", b.Name(), platform)
	}
	return opened, nil
}
