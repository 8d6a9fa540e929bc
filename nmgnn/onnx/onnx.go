// Package onnx writes trained models as ONNX files, so that programs in other languages can run them without this
// project.
//
// The graph in a file is the model's inference: nothing is masked or dropped, and batch normalisation uses its running
// statistics. docs/ONNX.md describes the inputs x: float32 [nodes, features] and edge_index: int64 [2, edges], the
// output logits: float32 [nodes, classes], and the metadata.
//
// Package protowire encodes ONNX's few messages, because generated code would be thousands of lines.
package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nodemask/internal/wholefile"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
)

const maxBytes = 1<<31 - 1

// Save atomically writes the model as an ONNX file, with version in the metadata unless version is empty. Equal models
// give equal files. Save returns an error if the model has custom layers, if [cached.Model.Check] refuses the model, or
// if the file would exceed ONNX's limit of 2 GiB.
func Save(path string, m *cached.Model, version string) error {
	file, err := convert(m, version)
	if err != nil {
		return err
	}
	if err := wholefile.WriteBytes(path, 0o644, file); err != nil {
		return fmt.Errorf("%s: the model cannot be written: %w", path, err)
	}
	return nil
}

func convert(m *cached.Model, version string) (message, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.Own != nil {
		return nil, errors.New("a model of one's own layers: an ONNX file can be made of the project's own alone")
	}
	weights := make(map[string]infer.Weight, len(m.Weights))
	for _, w := range m.Weights {
		weights[w.Path] = w
	}
	metadata, err := metadataOf(m, version)
	if err != nil {
		return nil, err
	}
	b := &builder{weights: weights, used: map[string]int{}, known: map[string]bool{}, repeated: map[int]string{},
		degrees: map[bool]value{}}
	network := m.Network()
	x := value{inputFeatures, m.Features}
	b.edges()
	if network.NormalizeFeatures {
		x = b.rowNormalized(x)
	}
	b.forward(network.Model, x)
	if b.err != nil {
		return nil, b.err
	}
	b.nodes[len(b.nodes)-1].output = outputLogits
	var graph message
	for _, n := range b.nodes {
		graph = graph.bytes(1, n.encode())
	}
	graph = graph.text(2, m.Settings.Model)
	for i, t := range b.initializers {
		graph = graph.bytes(5, t)
		b.initializers[i] = nil
	}
	graph = graph.
		bytes(11, valueInfo(inputFeatures, "features of the nodes", float32s, "nodes", m.Features)).
		bytes(11, valueInfo(inputEdges, "sources and targets of directed edges; an undirected one is listed in both "+
			"directions", int64s, 2, "edges")).
		bytes(12, valueInfo(outputLogits, "scores of the classes, before a softmax", float32s, "nodes", len(m.Classes)))
	file := message{}.int(1, irVersion).text(2, "nodemask").text(3, version).text(6, describe(m)).bytes(7, graph).
		bytes(8, message{}.int(2, opsetVersion))
	for _, e := range metadata {
		file = file.bytes(14, message{}.text(1, e[0]).text(2, e[1]))
	}
	if len(file) > maxBytes {
		return nil, fmt.Errorf("the model takes %d bytes: an ONNX file holds %d at most", len(file), maxBytes)
	}
	return file, nil
}

func describe(m *cached.Model) string {
	return fmt.Sprintf("A graph neural network (%s, %d layers) that sorts the nodes of a graph, each with %d features, "+
		"into %d classes, as trained on %s. It reads the features x and the edges edge_index, and returns logits.",
		hyper.Title(m.Settings.Model), m.Settings.Layers, m.Features, len(m.Classes), strconv.QuoteToGraphic(m.Data))
}

func metadataOf(m *cached.Model, version string) ([][2]string, error) {
	classes, err := json.Marshal(m.Classes)
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(m.Settings)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	all := [][2]string{{"classes", string(classes)}, {"settings", string(settings)}, {"seed", fmt.Sprint(m.Seed)}}
	for _, e := range [][2]string{{"data", strings.ToValidUTF8(m.Data, "\ufffd")}, {"version", version}} {
		if e[1] != "" {
			all = append(all, e)
		}
	}
	return all, nil
}
