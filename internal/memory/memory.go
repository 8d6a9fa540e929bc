// Package memory reports how much more memory this process may take, so that too large work is refused before the
// system kills it, and budgets files.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// ErrTooLarge is wrapped by errors of work that takes more memory than allowed.
var ErrTooLarge = errors.New("more memory than is allowed")

// Left is how much more memory this process may take.
type Left struct {
	Bytes int64
	Of    string // what limits it: "this machine" and so on
}

// String returns a phrase: "this machine leaves 1.5 GB".
func (l Left) String() string { return l.Of + " leaves " + Text(l.Bytes) }

// About returns an estimated number of bytes as text.
func About(bytes float64) string { return Text(int64(min(bytes, 9e18))) }

// Text returns a number of bytes as text: "1.5 GB".
func Text(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func least(all []Left) (l Left, ok bool) {
	l.Bytes = math.MaxInt64
	for _, one := range all {
		if one.Bytes = max(one.Bytes, 0); !ok || one.Bytes < l.Bytes {
			l, ok = one, true
		}
	}
	return l, ok
}

// unlimited is below what version 1 reports for groups without a limit.
const unlimited = 1 << 60

func machine(system fs.FS) []Left {
	if kilobytes, ok := numberOf(system, "proc/meminfo", "MemAvailable:"); ok {
		return []Left{{kilobytes << 10, "this machine"}}
	}
	return nil
}

// groups returns what this process's control groups (versions 1 and 2) and their parents leave.
func groups(system fs.FS) (all []Left) {
	text, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) != 3 {
			continue
		}
		root, limit, usage, idle := "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		if parts[1] != "" {
			root, limit = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			usage, idle = "memory.usage_in_bytes", "total_inactive_file"
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
		}
		// A container sees its own group as the root.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			folder := path.Join(root, group)
			if most, ok := numberOf(system, path.Join(folder, limit), ""); ok && most < unlimited {
				used, _ := numberOf(system, path.Join(folder, usage), "")
				cached, _ := numberOf(system, path.Join(folder, "memory.stat"), idle+" ") // reclaimable
				all = append(all, Left{most - max(used-cached, 0), "this process's control group (" + limit + ")"})
			}
			if group == "/" {
				break
			}
		}
	}
	return all
}

// numberOf returns the number after key at a line's start; without a key, the file's first number.
func numberOf(system fs.FS, name, key string) (number int64, ok bool) {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, key)
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			number, err := strconv.ParseInt(fields[0], 10, 64)
			return number, err == nil && number >= 0
		}
	}
	return 0, false
}
