package fused

// For external tests: calling kernels with inputs that the methods of [Matrix] refuse.
var (
	Call        = call
	ReplaceCall = replaceCall
)
