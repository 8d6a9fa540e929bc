//go:build !js

package lanes

// Have returns false: this is not WebAssembly.
func Have() bool { return false }

// Run panics: this is not WebAssembly.
func (f Function) Run(from, to int, args ...Word) {
	if !Have() {
		panic("not compiled to WebAssembly")
	}
}
