package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/internal/wholefile"
	"nodemask/internal/worker"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/onnx"
	"nodemask/record"
)

func newExportCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "export MODEL",
		Short: "Write a saved model as an ONNX file, for other programs and languages to run",
		Long: `Write a saved model as an ONNX file, for other programs and languages to run: ONNX Runtime and others.

MODEL is a file that 'nodemask train --save-model' wrote. The ONNX file computes logits [nodes, classes] of any graph,
from features x [nodes, features] and edge_index [2, edges]: sources above, targets below, an undirected edge in both
directions. Nothing is masked or dropped. Features go in as the data set has them: if the model was trained on rows
divided by their sums, the file divides them. Class names and settings are in its metadata. docs/ONNX.md has an
example.`,
		Example: `  nodemask train --data cora --setting transductive --train 50 --keep-rate 0.5 --save-model cora.model
  nodemask export cora.model -o cora.onnx`,
		Args: cobra.ExactArgs(1),
	}
	addOutput(c.Flags(), &output, "", "the ONNX file (default: the model's name with .onnx)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("output") && output == "" {
			return misusef("--output is empty: expected a file")
		}
		e, err := exportModel(args[0], output)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", e)
		return err
	}
	return c
}

// exportModel writes the model of a file as ONNX: beside it, if no output is named.
func exportModel(model, output string) (worker.Exported, error) {
	m, err := cached.LoadModel(model)
	if err != nil {
		return worker.Exported{}, fileError("", model, err)
	}
	if output == "" {
		output = strings.TrimSuffix(model, filepath.Ext(model)) + ".onnx"
	}
	if wholefile.Replaces(output, model) != "" {
		return worker.Exported{}, misusef("--output %s: this is the model itself: expected another file", output)
	}
	if err := checkWritable("output", output); err != nil {
		return worker.Exported{}, err
	}
	if err := onnx.Save(output, m, onnx.Options{Version: record.Version()}); err != nil {
		return worker.Exported{}, err
	}
	info, err := os.Stat(output)
	if err != nil {
		return worker.Exported{}, err
	}
	return worker.Exported{File: output, Bytes: info.Size(), Model: hyper.Title(m.Settings.Model), Features: m.Features,
		Classes: len(m.Classes)}, nil
}
