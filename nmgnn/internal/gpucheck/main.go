//go:build cgo && linux && amd64

// Command gpucheck compiles nodemask's programs for GPUs that are not there, and holds what XLA makes of them to the
// bounds in bounds.tsv. run.sh fetches what that takes, and calls it.
package main

import (
	"bufio"
	"bytes"
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
	targets := flag.String("targets", "h100,a100", "which GPUs")
	kinds := flag.String("kernels", "scatter,ours,alone",
		"programs with scatters, with kernels of our own, or these alone")
	keep := flag.String("keep", "", "a folder that keeps programs and XLA's dumps")
	write := flag.Bool("write", false, "write what is measured to bounds.tsv, with room for a twentieth more memory, "+
		"and leave other rows as they are")
	flag.Parse()
	c := &check{compiler: strings.Fields(*compiler), cuda: *cuda, scripts: *scripts, keep: *keep, write: *write}
	failed, err := c.run(strings.Split(*models, ","), strings.Split(*targets, ","), strings.Split(*kinds, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpu-check:", err)
		os.Exit(1)
	}
	for _, f := range failed {
		fmt.Fprintln(os.Stderr, "gpu-check:", f)
	}
	if len(failed) > 0 {
		os.Exit(1)
	}
}

// pass is what a model is compiled for: an epoch of so many trials; 0: an evaluation.
type pass struct {
	name   string
	trials int
}

type check struct {
	compiler            []string
	cuda, scripts, keep string
	write               bool
	bounds              limits
}

// run prints a row for each program and GPU, and returns what is out of bounds.
func (c *check) run(models, targets, kinds []string) (failed []string, err error) {
	path := filepath.Join(c.scripts, "bounds.tsv")
	if c.bounds, err = readBounds(path); err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if !slices.Contains([]string{"scatter", "ours", "alone"}, kind) {
			return nil, fmt.Errorf("kernels %q: expected scatter, ours or alone", kind)
		}
	}
	scratch := c.keep
	if scratch == "" {
		if scratch, err = os.MkdirTemp("", "gpucheck"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(scratch)
	}
	w, err := newWriter(scratch)
	if err != nil {
		return nil, err
	}
	fmt.Printf("| program | GPU | kernels | scatters | entries × width | XLA's estimate, µs | bytes moved, MB | at " +
		"least, µs | peak, MB | spills |\n|---|---|---|---|---|---|---|---|---|---|\n")
	measure := func(name string, entries int64, text []byte) error {
		for _, target := range targets {
			m, err := c.compile(scratch, name, target, entries, text)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", name, target, err)
			}
			fmt.Printf("| %s | %s |%s\n", name, target, m.row())
			if c.write {
				c.bounds[name+" "+target] = limit{m.kernels, m.wide, m.peakMB() + m.peakMB()/20 + 1, m.spills}
			}
			failed = append(failed, c.bounds.holds(name, target, m)...)
		}
		return nil
	}
	for _, data := range graphs {
		g, err := open(data.data)
		if err != nil {
			return failed, err
		}
		for _, model := range models {
			passes := []pass{{"epoch", 1}, {"evaluation", 0}}
			if data.small {
				passes = append(passes, pass{fmt.Sprintf("epoch-of-%d", together), together})
			}
			for _, pass := range passes {
				for _, kind := range kinds {
					if kind == "alone" {
						continue
					}
					name := strings.Join([]string{data.name, model, pass.name, kind}, " ")
					text, err := w.program(pass.trials, model, kind == "ours", g)
					if err != nil {
						return failed, fmt.Errorf("%s: %w", name, err)
					}
					if err := measure(name, int64(max(pass.trials, 1))*g.Edges.NumEdges(), text); err != nil {
						return failed, err
					}
				}
			}
		}
		if !slices.Contains(kinds, "alone") {
			continue
		}
		for _, k := range kernelsOf(g) {
			if err := measure(data.name+" "+k.name+" alone", g.Edges.NumEdges(), []byte(k.program)); err != nil {
				return failed, err
			}
		}
	}
	if c.write {
		return failed, c.bounds.write(path)
	}
	return failed, nil
}

// compile compiles a program in a process of its own, and reads what XLA wrote of it.
func (c *check) compile(scratch, name, target string, entries int64, program []byte) (measured, error) {
	folder := filepath.Join(scratch, strings.ReplaceAll(name, " ", "-")+"-"+target)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return measured{}, err
	}
	if c.keep == "" {
		defer os.RemoveAll(folder)
	}
	file := filepath.Join(folder, "program.mlir")
	if err := os.WriteFile(file, program, 0o644); err != nil {
		return measured{}, err
	}
	flags := "--xla_dump_to=" + folder + " --xla_dump_hlo_as_text --xla_gpu_cuda_data_dir=" + c.cuda
	if target != "a100" { // XLA knows no costs there
		flags += " --xla_gpu_collect_cost_model_stats=true"
	}
	compile := func(flags string) ([]byte, error) {
		command := exec.Command(c.compiler[0], append(slices.Clone(c.compiler[1:]), filepath.Join(c.scripts, target+".txtpb"),
			file)...)
		command.Env = append(os.Environ(), "XLA_FLAGS="+flags, "PATH="+filepath.Join(c.cuda, "bin")+":"+os.Getenv("PATH"),
			"TF_CPP_MIN_LOG_LEVEL=2")
		return command.CombinedOutput()
	}
	// XLA does not say which kernels spill registers, but refuses them if it is asked to.
	said, err := compile(flags + " --xla_gpu_fail_ptx_compilation_on_register_spilling=true")
	spills := err != nil && bytes.Contains(said, []byte("register spilling"))
	if spills {
		said, err = compile(flags)
	}
	if err != nil {
		return measured{}, fmt.Errorf("%w\n%s", err, said)
	}
	m, err := readDump(folder, string(said), entries)
	m.spills = spills
	return m, err
}

// limits are the most that programs may have, by their name and GPU.
type limits map[string]limit

type limit struct {
	kernels, wide, peakMB int
	spills                bool
}

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
		var data, model, pass, kernel, target string
		var l limit
		if n, err := fmt.Sscan(s.Text(), &data, &model, &pass, &kernel, &target, &l.kernels, &l.wide, &l.peakMB,
			&l.spills); err != nil {
			return nil, fmt.Errorf("%s: line %d: %d fields of 9: %w", path, line, n, err)
		}
		all[strings.Join([]string{data, model, pass, kernel, target}, " ")] = l
	}
	return all, nil
}

func (all limits) write(path string) error {
	text := "data\tmodel\tpass\tkernel\tgpu\tkernels\twide\tpeak_mb\tspills\n"
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l := all[name]
		text += fmt.Sprintf("%s\t%d\t%d\t%d\t%t\n", strings.ReplaceAll(name, " ", "\t"), l.kernels, l.wide, l.peakMB,
			l.spills)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// holds returns what is out of bounds.
func (all limits) holds(name, target string, m measured) (out []string) {
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s for %s: ", name, target)+fmt.Sprintf(format, args...))
	}
	l, ok := all[name+" "+target]
	if !ok {
		say("no bounds in bounds.tsv: measured %d kernels, a peak of %d MB, spills %t", m.kernels, m.peakMB(), m.spills)
		return out
	}
	if m.kernels > l.kernels {
		say("%d kernels: expected at most %d", m.kernels, l.kernels)
	}
	if m.wide > l.wide {
		say("%d arrays of a row for each entry: expected at most %d", m.wide, l.wide)
	}
	if m.peakMB() > l.peakMB {
		say("a peak of %d MB: expected at most %d", m.peakMB(), l.peakMB)
	}
	if m.spills && !l.spills {
		say("a kernel spills registers")
	}
	if strings.Contains(name, " epoch") && (m.alias == 0 || m.apart != 0) {
		say("%d bytes of weights are written in place, and %d thunks are launched beside the first: expected all weights, and "+
			"one command buffer alone", m.alias, m.apart)
	}
	if m.idle > 0 {
		say("%d scatters that add nothing", m.idle)
	}
	if m.looped > 0 {
		say("%d scatters inside loops", m.looped)
	}
	return out
}
