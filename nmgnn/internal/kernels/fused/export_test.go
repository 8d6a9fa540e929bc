package fused

// What tests of the outside may do that nobody else can: call kernels with what the methods of [Matrix] refuse, and
// make calls those of kernels.
var (
	Call        = call
	ReplaceCall = replaceCall
)
