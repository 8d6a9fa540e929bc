//go:build cgo && linux && amd64

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// measured is what XLA made of a program.
type measured struct {
	hlo          string
	kernels      int // launches, loops counted once
	scatters     int
	looped, idle int     // scatters inside loops; of two rows, as a barrier against fusing is
	estimate     float64 // XLA's, µs, without launches; 0: none
	bytes        int64   // that kernels read and write, by the shapes of their operands and results
	peak         int64
	alias        int64 // of it, bytes of inputs that results are written over
	apart        int   // what is launched outside of the one command buffer
	wide         int   // arrays with a row for each entry
	spills       bool  // a kernel has not enough registers
}

const h100Bandwidth = 3.35e12 // bytes a second, by NVIDIA's data sheet

func (m measured) peakMB() int { return int((m.peak + 999_999) / 1_000_000) }

func (m measured) row() string {
	estimate := "–"
	if m.estimate > 0 {
		estimate = fmt.Sprintf("%.0f", m.estimate)
	}
	return fmt.Sprintf(" %d | %d | %d | %s | %.1f | %.0f | %d | %t |", m.kernels, m.scatters, m.wide, estimate,
		float64(m.bytes)/1e6, float64(m.bytes)/h100Bandwidth*1e6, m.peakMB(), m.spills)
}

var (
	launchLine    = regexp.MustCompile(`(?m)^\s*\d+: (k(?:Custom)?Kernel)\b`)
	launchedFirst = regexp.MustCompile(`(?m)^\d+: k`) // not by a command buffer
	computation   = regexp.MustCompile(`(?ms)^%(\S+) \(.*?\) -> .*? \{\n(.*?)^\}`)
	instruction   = regexp.MustCompile(`^\s+(?:ROOT )?%\S+ = (.*?) ` +
		`(fusion|custom-call|copy|scatter|while|sort|gather|dot|reduce)\((.*)`)
	defined      = regexp.MustCompile(`(?m)^\s+(?:ROOT )?(%\S+) = (.*?) [a-z\-]+\(`)
	operand      = regexp.MustCompile(`%[\w.\-]+`)
	calledBy     = regexp.MustCompile(`calls=%([\w.\-]+)`)
	bodyOf       = regexp.MustCompile(` while\(.*body=%([\w.\-]+)`)
	microseconds = regexp.MustCompile(`"exec_time_us":([0-9.e+-]+)`)
	shape        = regexp.MustCompile(`\b(pred|s8|u8|s16|u16|bf16|f16|s32|u32|f32|s64|u64|f64)\[([\d,]*)\]`)
	peakSaid     = regexp.MustCompile(`(?m)^peak (\d+) alias (\d+)$`)
)

// readDump reads XLA's dump of the one program in a folder, and what the compiler said.
func readDump(folder, said string, entries int64) (m measured, err error) {
	read := func(pattern string) string {
		files, _ := fs.Glob(os.DirFS(folder), pattern)
		if len(files) != 1 && err == nil {
			err = fmt.Errorf("%d files %s in XLA's dump: expected 1", len(files), pattern)
		}
		if err != nil {
			return ""
		}
		text, failed := os.ReadFile(filepath.Join(folder, files[0]))
		err = failed
		return string(text)
	}
	m.hlo = read("*gpu_after_optimizations.txt")
	thunks := read("*thunk_sequence.txt")
	launches := thunks // of a single kernel, which XLA leaves as it is
	const passes = "*thunk_sequence_after_thunk_passes.txt"
	if changed, _ := fs.Glob(os.DirFS(folder), passes); len(changed) > 0 {
		launches = read(passes)
	}
	if err != nil {
		return m, err
	}
	found := peakSaid.FindStringSubmatch(said)
	if found == nil {
		return m, fmt.Errorf("the compiler did not say its peak: %s", said)
	}
	m.peak, _ = strconv.ParseInt(found[1], 10, 64)
	m.alias, _ = strconv.ParseInt(found[2], 10, 64)
	m.apart = len(launchedFirst.FindAllString(launches, -1)) - 1
	m.kernels = len(launchLine.FindAllString(thunks, -1))

	bodies := map[string]string{}
	for _, c := range computation.FindAllStringSubmatch(m.hlo, -1) {
		bodies[c[1]] = c[2]
	}
	_, entry, is := strings.Cut(m.hlo, "\nENTRY")
	if !is {
		return m, fmt.Errorf("XLA's dump has no entry")
	}
	m.count(entry, entries, bodies, false)
	for _, loop := range bodyOf.FindAllStringSubmatch(m.hlo, -1) {
		m.count(bodies[loop[1]], entries, bodies, true)
	}
	return m, nil
}

// count adds up the instructions of a computation.
func (m *measured) count(text string, entries int64, bodies map[string]string, loop bool) {
	sizes := map[string]int64{}
	for _, d := range defined.FindAllStringSubmatch(text, -1) {
		sizes[d[1]] = bytesOf(d[2])
	}
	for line := range strings.Lines(text) {
		found := instruction.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if wide(found[1], entries) {
			m.wide++
		}
		if e := microseconds.FindStringSubmatch(line); e != nil {
			us, _ := strconv.ParseFloat(e[1], 64)
			m.estimate += us
		}
		arguments, _, _ := strings.Cut(found[3], ")")
		if found[2] != "while" {
			m.bytes += bytesOf(found[1])
			for _, a := range operand.FindAllString(arguments, -1) {
				m.bytes += sizes[a]
			}
		}
		inside := line
		if c := calledBy.FindStringSubmatch(line); c != nil {
			inside = bodies[c[1]]
		}
		for i := range strings.Lines(inside) {
			if !strings.Contains(i, " scatter(") {
				continue
			}
			m.scatters++
			if loop {
				m.looped++
			}
			if strings.Contains(inside, "s32[2,1]") {
				m.idle++
			}
		}
	}
}

// wide says whether a type has an array with a row of more numbers than a model has heads for each entry of a matrix.
func wide(text string, entries int64) bool {
	for _, s := range shape.FindAllStringSubmatch(text, -1) {
		first, rest, _ := strings.Cut(s[2], ",")
		rows, err := strconv.ParseInt(first, 10, 64)
		if err == nil && rows >= entries && bytesOf("s8["+rest+"]") > maxHeads {
			return true
		}
	}
	return false
}

const maxHeads = 8

// bytesOf adds up the arrays that a text has shapes of.
func bytesOf(text string) (sum int64) {
	for _, s := range shape.FindAllStringSubmatch(text, -1) {
		size := map[string]int64{"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2, "s64": 8, "u64": 8,
			"f64": 8}[s[1]]
		if size == 0 {
			size = 4
		}
		for _, d := range strings.Split(s[2], ",") {
			if n, err := strconv.ParseInt(d, 10, 64); err == nil {
				size *= n
			}
		}
		sum += size
	}
	return sum
}
