package fused

// For external tests, which call kernels with inputs that the methods of [Matrix] refuse.
var (
	Call        = call
	ReplaceCall = replaceCall
)
