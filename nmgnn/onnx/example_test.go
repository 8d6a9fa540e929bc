package onnx_test

import (
	"fmt"
	"os"
	"path/filepath"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/onnx"
)

// untrained stands for a model that cached.LoadModel reads.
func untrained() *cached.Model {
	gin, err := hyper.For("gin")
	check(err)
	b, err := backend.Open("go")
	check(err)
	network, err := infer.Untrained(b, nmgnn.Build(gin, 2), 100, 1)
	check(err)
	return &cached.Model{Settings: gin, Classes: []string{"cat", "dog"}, Features: 100, Data: "pets",
		Weights: network.Weights}
}

func ExampleSave() {
	folder, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "pets.onnx")
	check(onnx.Save(path, untrained(), "example 1.0"))
	info, err := os.Stat(path)
	check(err)
	fmt.Println("holds more than the weights, 26 kB:", info.Size() > 4*(100*64+64+64*2+2))
	// Output: holds more than the weights, 26 kB: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
