//go:build !js

package lanes

// Have returns false: there is no WebAssembly here.
func Have() bool { return false }

// Run panics: there is no WebAssembly here.
func (f Function) Run(from, to int, args ...Word) {
	if !Have() {
		panic("not compiled to WebAssembly")
	}
}
