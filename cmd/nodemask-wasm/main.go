//go:build js && wasm

// Command nodemask-wasm runs in a page's Web Worker and trains when the page's messages ask for it.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"nodemask/nmgnn/backend"
	"nodemask/page"
)

func main() {
	b, err := backend.Open("go")
	if err != nil {
		post(page.Event{Kind: "failed", Error: err.Error()})
		return
	}
	session := page.NewSession(b)
	breathe := breather()
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		r, err := read(args[0].Get("data"))
		if err != nil {
			post(page.Event{ID: r.ID, Kind: "failed", Error: err.Error()})
			return nil
		}
		go session.Handle(context.Background(), r, func(e page.Event) {
			post(e)
			breathe()
		})
		return nil
	}))
	post(page.Event{Kind: "ready"})
	select {}
}

func read(message js.Value) (page.Request, error) {
	var r page.Request
	if err := json.Unmarshal([]byte(message.Get("request").String()), &r); err != nil {
		return r, err
	}
	if files := message.Get("files"); files.Truthy() {
		r.Files = map[string][]byte{}
		for i := range files.Length() {
			array := js.Global().Get("Uint8Array").New(files.Index(i).Get("bytes"))
			content := make([]byte, array.Length())
			js.CopyBytesToGo(content, array)
			r.Files[files.Index(i).Get("name").String()] = content
		}
	}
	return r, nil
}

func post(e page.Event) {
	text, err := json.Marshal(e)
	if err != nil {
		text, _ = json.Marshal(page.Event{ID: e.ID, Kind: "failed", Error: err.Error()})
	}
	js.Global().Call("postMessage", string(text))
}

// breather returns a function that pauses the Web Worker, so that the worker reads waiting messages.
func breather() func() {
	back := make(chan struct{}, 1)
	channel := js.Global().Get("MessageChannel").New()
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		select {
		case back <- struct{}{}:
		default:
		}
		return nil
	}))
	return func() {
		channel.Get("port2").Call("postMessage", nil)
		<-back
	}
}
