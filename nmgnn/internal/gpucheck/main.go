//go:build cgo && linux && amd64

// Command gpucheck compiles nodemask's programs for GPUs, without a GPU, and checks that kernel launches and memory
// stay within bounds.tsv. run.sh fetches the compiler and runs gpucheck.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	compiler := flag.String("compiler", "", "the program that compiler/compile.c is, with its plugin")
	cuda := flag.String("cuda", "", "the folder with CUDA's bin and nvvm")
	scripts := flag.String("scripts", ".", "the folder with targets and bounds")
	models := flag.String("models", "gin,gat,sgat,gcn,sage,gatv2", "which models")
	write := flag.Bool("write", false, "write what is measured to bounds.tsv, with room for a twentieth more memory, "+
		"and leave other rows as they are")
	flag.Parse()
	c := &check{compiler: strings.Fields(*compiler), cuda: *cuda, scripts: *scripts, write: *write}
	failed, err := c.run(strings.Split(*models, ","))
	if err != nil {
		failed = append(failed, err.Error())
	}
	for _, f := range failed {
		fmt.Fprintln(os.Stderr, "gpu-check:", f)
	}
	if len(failed) > 0 {
		os.Exit(1)
	}
}

type check struct {
	compiler      []string
	cuda, scripts string
	write         bool
	bounds        limits
}

func (c *check) run(models []string) (failed []string, err error) {
	path := filepath.Join(c.scripts, "bounds.tsv")
	if c.bounds, err = readBounds(path); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "gpucheck")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	w, err := newWriter(scratch)
	if err != nil {
		return nil, err
	}
	fmt.Print("| program | GPU | kernels | peak, MB |\n|---|---|---|---|\n")
	for _, data := range []string{"cora", "pubmed", redditLike} {
		g, err := open(data)
		if err != nil {
			return failed, err
		}
		for _, model := range models {
			for _, pass := range []string{"epoch", "evaluation"} {
				short := strings.Replace(data, redditLike, "reddit", 1)
				name := short + " " + model + " " + pass
				text, err := w.program(model, pass == "epoch", g)
				if err != nil {
					return failed, fmt.Errorf("%s: %w", name, err)
				}
				for _, target := range []string{"h100", "a100"} {
					m, err := c.compile(scratch, name, target, text)
					if err != nil {
						return failed, fmt.Errorf("%s for %s: %w", name, target, err)
					}
					fmt.Printf("| %s | %s | %d | %d |\n", name, target, m.kernels, m.peakMB())
					if c.write {
						c.bounds[name+" "+target] = limit{m.kernels, m.peakMB() + m.peakMB()/20 + 1}
					}
					failed = append(failed, c.bounds.holds(name, target, m)...)
				}
			}
		}
	}
	if c.write {
		return failed, c.bounds.write(path)
	}
	return failed, nil
}

func (c *check) compile(scratch, name, target string, program []byte) (measured, error) {
	folder := filepath.Join(scratch, strings.ReplaceAll(name, " ", "-")+"-"+target)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return measured{}, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "program.mlir")
	if err := os.WriteFile(file, program, 0o644); err != nil {
		return measured{}, err
	}
	cuda, err := c.toolkit(folder)
	if err != nil {
		return measured{}, err
	}
	command := exec.Command(c.compiler[0], append(slices.Clone(c.compiler[1:]), filepath.Join(c.scripts, target+".txtpb"),
		file)...)
	command.Env = append(os.Environ(), "PATH="+filepath.Join(cuda, "bin")+":"+os.Getenv("PATH"), "TF_CPP_MIN_LOG_LEVEL=2",
		"XLA_FLAGS=--xla_dump_to="+folder+" --xla_dump_hlo_as_text --xla_gpu_cuda_data_dir="+cuda)
	said, err := command.CombinedOutput()
	if err != nil {
		return measured{}, fmt.Errorf("%w\n%s", err, said)
	}
	return readDump(folder, string(said))
}

// toolkit makes a CUDA folder whose ptxas is a script. The script appends the PTX code that it is given to kernels.ptx
// in folder, then runs the real ptxas. XLA itself dumps no PTX when it compiles kernel by kernel.
func (c *check) toolkit(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	cuda := filepath.Join(folder, "cuda")
	script := fmt.Sprintf("#!/bin/sh\n[ -f \"$1\" ] && cat \"$1\" >>'%s/kernels.ptx'\nexec '%s/bin/ptxas' \"$@\"\n", folder,
		c.cuda)
	return cuda, errors.Join(os.MkdirAll(filepath.Join(cuda, "bin"), 0o755),
		os.Symlink(filepath.Join(c.cuda, "nvvm"), filepath.Join(cuda, "nvvm")),
		os.WriteFile(filepath.Join(cuda, "bin", "ptxas"), []byte(script), 0o755))
}

type limits map[string]limit

type limit struct{ kernels, peakMB int }

func readBounds(path string) (limits, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, line := limits{}, 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if line++; line == 1 {
			continue
		}
		var data, model, pass, target string
		var l limit
		if n, err := fmt.Sscan(s.Text(), &data, &model, &pass, &target, &l.kernels, &l.peakMB); err != nil {
			return nil, fmt.Errorf("%s: line %d: %d fields of 6: %w", path, line, n, err)
		}
		all[strings.Join([]string{data, model, pass, target}, " ")] = l
	}
	return all, nil
}

func (all limits) write(path string) error {
	text := "data\tmodel\tpass\tgpu\tkernels\tpeak_mb\n"
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf("%s\t%d\t%d\n", strings.ReplaceAll(name, " ", "\t"), all[name].kernels, all[name].peakMB)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (all limits) holds(name, target string, m measured) (out []string) {
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s for %s: ", name, target)+fmt.Sprintf(format, args...))
	}
	l, ok := all[name+" "+target]
	if !ok {
		say("no bounds in bounds.tsv: measured %d kernels and a peak of %d MB", m.kernels, m.peakMB())
		return out
	}
	if m.kernels > l.kernels {
		say("%d kernels: expected at most %d", m.kernels, l.kernels)
	}
	if m.peakMB() > l.peakMB {
		say("a peak of %d MB: expected at most %d", m.peakMB(), l.peakMB)
	}
	if strings.Contains(name, " epoch") && m.alias == 0 {
		say("weights are copied: expected them to be written in place")
	}
	if m.swapped > 0 {
		say("%d float additions are compare-and-swap loops: expected native ones (openxla/xla#46225)", m.swapped)
	}
	return out
}
