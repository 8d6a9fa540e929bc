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

type measured struct {
	kernels          int   // launches, loops counted once
	scatters, looped int   // all scatters, and those inside loops
	wide             int   // arrays with a row per entry
	peak, alias      int64 // bytes in all, and of inputs overwritten by results
	swapped          int   // float additions as compare-and-swap loops
}

func (m measured) peakMB() int { return int((m.peak + 999_999) / 1_000_000) }

var (
	launch      = regexp.MustCompile(`(?m)^\s*\d+: (k(?:Custom)?Kernel)\b`)
	computation = regexp.MustCompile(`(?ms)^%(\S+) \(.*?\) -> .*? \{\n(.*?)^\}`)
	instruction = regexp.MustCompile(`^\s+(?:ROOT )?%\S+ = (.*?) ` +
		`(?:fusion|custom-call|copy|scatter|while|sort|gather|dot|reduce)\(`)
	calledBy = regexp.MustCompile(`calls=%([\w.\-]+)`)
	bodyOf   = regexp.MustCompile(` while\(.*body=%([\w.\-]+)`)
	array    = regexp.MustCompile(`\b[a-z]+\d*\[([\d,]+)\]`)
	peakSaid = regexp.MustCompile(`(?m)^peak (\d+) alias (\d+)$`)
	label    = regexp.MustCompile(`(?m)^\$\w+:`)
	floatAdd = regexp.MustCompile(`\badd(?:\.\w+)*\.f(?:16|32|64)\b`)
	swap     = regexp.MustCompile(`\batom(?:\.\w+)*\.cas\b`)
)

// readDump reads XLA's dump of a folder's only program, and the compiler's messages.
func readDump(folder, said string, entries int64) (m measured, err error) {
	read := func(pattern string) (text string) {
		files, _ := fs.Glob(os.DirFS(folder), pattern)
		if len(files) != 1 && err == nil {
			err = fmt.Errorf("%d files %s in XLA's dump: expected 1", len(files), pattern)
		}
		if err == nil {
			var data []byte
			data, err = os.ReadFile(filepath.Join(folder, files[0]))
			text = string(data)
		}
		return text
	}
	hlo, thunks, ptx := read("*gpu_after_optimizations.txt"), read("*thunk_sequence.txt"), read("kernels.ptx")
	_, entry, found := strings.Cut(hlo, "\nENTRY")
	peak := peakSaid.FindStringSubmatch(said)
	switch {
	case err != nil:
		return m, err
	case !found:
		return m, fmt.Errorf("XLA's dump has no ENTRY")
	case peak == nil:
		return m, fmt.Errorf("the compiler printed no peak: %s", said)
	}
	m.peak, _ = strconv.ParseInt(peak[1], 10, 64)
	m.alias, _ = strconv.ParseInt(peak[2], 10, 64)
	m.kernels, m.swapped = len(launch.FindAllString(thunks, -1)), swappedAdds(ptx)
	bodies := map[string]string{}
	for _, c := range computation.FindAllStringSubmatch(hlo, -1) {
		bodies[c[1]] = c[2]
	}
	m.count(entry, entries, bodies, false)
	for _, loop := range bodyOf.FindAllStringSubmatch(hlo, -1) {
		m.count(bodies[loop[1]], entries, bodies, true)
	}
	return m, nil
}

// swappedAdds counts blocks of PTX that add floats in a compare-and-swap loop: XLA's code for additions that it thinks
// lack an instruction. Maxima do lack one.
func swappedAdds(ptx string) (n int) {
	for _, block := range label.Split(ptx, -1) {
		at := swap.FindStringIndex(block)
		if at != nil && floatAdd.MatchString(block[:at[0]]) {
			n++
		}
	}
	return n
}

func (m *measured) count(text string, entries int64, bodies map[string]string, loop bool) {
	for line := range strings.Lines(text) {
		found := instruction.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if wide(found[1], entries) {
			m.wide++
		}
		inside := line
		if c := calledBy.FindStringSubmatch(line); c != nil {
			inside = bodies[c[1]]
		}
		n := strings.Count(inside, " scatter(")
		m.scatters += n
		if loop {
			m.looped += n
		}
	}
}

// wide reports whether a type has an array with a row per entry, wider than a model's number of heads.
func wide(text string, entries int64) bool {
	const heads = 8
	for _, s := range array.FindAllStringSubmatch(text, -1) {
		first, rest, _ := strings.Cut(s[1], ",")
		size := int64(1)
		for _, d := range strings.Split(rest, ",") {
			if n, err := strconv.ParseInt(d, 10, 64); err == nil {
				size *= n
			}
		}
		if rows, err := strconv.ParseInt(first, 10, 64); err == nil && rows >= entries && size > heads {
			return true
		}
	}
	return false
}
