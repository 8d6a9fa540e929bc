package fused

// Call exports call, for inputs that the methods of [Matrix] refuse.
var Call = call
