//go:build cgo && linux && amd64

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

type measured struct {
	kernels     int   // kernel launches; a launch in a loop counts once
	peak, alias int64 // bytes of peak memory, and bytes of inputs that results overwrite
	swapped     int   // float additions compiled to compare-and-swap loops
}

func (m measured) peakMB() int { return int((m.peak + 999_999) / 1_000_000) }

var (
	launch   = regexp.MustCompile(`(?m)^\s*\d+: (k(?:Custom)?Kernel)\b`)
	peakSaid = regexp.MustCompile(`(?m)^peak (\d+) alias (\d+)$`)
	label    = regexp.MustCompile(`(?m)^\$\w+:`)
	floatAdd = regexp.MustCompile(`\badd(?:\.\w+)*\.f(?:16|32|64)\b`)
	swap     = regexp.MustCompile(`\batom(?:\.\w+)*\.cas\b`)
)

func readDump(folder, messages string) (m measured, err error) {
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
	thunks, ptx := read("*thunk_sequence.txt"), read("kernels.ptx")
	if err != nil {
		return m, err
	}
	peak := peakSaid.FindStringSubmatch(messages)
	if peak == nil {
		return m, fmt.Errorf("the compiler printed no peak: %s", messages)
	}
	m.peak, _ = strconv.ParseInt(peak[1], 10, 64)
	m.alias, _ = strconv.ParseInt(peak[2], 10, 64)
	m.kernels, m.swapped = len(launch.FindAllString(thunks, -1)), swappedAdds(ptx)
	return m, nil
}

// swappedAdds counts blocks of PTX that add floats in a compare-and-swap loop. XLA emits such a loop where it does not
// know the GPU's instruction for the addition. Loops that compute a maximum are needed and do not count.
func swappedAdds(ptx string) (n int) {
	for _, block := range label.Split(ptx, -1) {
		at := swap.FindStringIndex(block)
		if at != nil && floatAdd.MatchString(block[:at[0]]) {
			n++
		}
	}
	return n
}
