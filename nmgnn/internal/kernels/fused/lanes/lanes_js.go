package lanes

import (
	_ "embed"
	"reflect"
	"runtime"
	"sync"
	"syscall/js"
	"unsafe"
)

//go:embed lanes.wasm
var module []byte

var names = [functions]string{"times", "total", "agreement", "attend", "attend_backward", "drop", "elu", "score",
	"score_backward",
	"sums", "differences", "products", "quotients", "maxima", "signs", "roots", "column_sums", "transpose", "dot"}

var exported [functions]js.Value

// Have reports whether vector instructions exist and lanes.wasm can use Go's memory. If not, do not call Run.
func Have() bool { return start() }

var start = sync.OnceValue(func() (works bool) {
	defer func() {
		if recover() != nil { // JavaScript threw an error: vector instructions are missing, or compiling is forbidden
			works = false
		}
	}()
	bytes := js.Global().Get("Uint8Array").New(len(module))
	js.CopyBytesToJS(bytes, module)
	code := js.Global().Get("WebAssembly").Get("Module").New(bytes)
	memory := program().Get("_inst").Get("exports").Get("mem")
	env := js.ValueOf(map[string]any{"env": map[string]any{"memory": memory}})
	exports := js.Global().Get("WebAssembly").Get("Instance").New(code, env).Get("exports")
	for f, name := range names {
		if exported[f] = exports.Get(name); exported[f].Type() != js.TypeFunction {
			return false
		}
	}
	return shared()
})

// program returns the JavaScript object that runs this program. syscall/js does not export this object. In
// wasm_exec.js, its id is the global object's id plus one.
func program() js.Value {
	global := js.Global()
	own := global
	if ref, found := reflect.TypeOf(global).FieldByName("ref"); !found || ref.Offset != 0 ||
		ref.Type.Kind() != reflect.Uint64 {
		return js.Undefined()
	}
	*(*uint64)(unsafe.Pointer(&own)) = *(*uint64)(unsafe.Pointer(&global)) + 1
	return own
}

func shared() bool {
	x, y := []float32{1, -2, 0, 3, -4}, make([]float32, 5)
	Signs.Run(0, 0, Slice(x), Slice(y), Int(len(x)))
	runtime.KeepAlive(x)
	return [5]float32(y) == [5]float32{1, -1, 0, 1, -1}
}

// Run calls f with args; lanes.c lists each function's arguments. f computes the rows, partial sums or numbers in the
// range [from, to).
func (f Function) Run(from, to int, args ...Word) {
	a := append([]Word(nil), args...)
	exported[f].Invoke(int(uintptr(unsafe.Pointer(&a[0]))), from, to)
	runtime.KeepAlive(a)
}
