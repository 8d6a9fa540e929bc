package fused

// ReplaceCall makes calls those of kernels that are none.
var ReplaceCall = replaceCall
