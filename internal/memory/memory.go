// Package memory reports how much more memory this process may take, to refuse work before the system kills the
// process. It also limits the memory that reading a file takes.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// ErrTooLarge is wrapped by errors that refuse work for want of memory.
var ErrTooLarge = errors.New("more memory than is allowed")

// Left is how much more memory this process may take.
type Left struct {
	Bytes int64
	Of    string // what sets the limit, such as "this machine"
}

// String returns a phrase: "this machine leaves 1.5 GB".
func (l Left) String() string { return l.Of + " leaves " + Text(l.Bytes) }

// About formats an estimated number of bytes as [Text] does.
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

// Get returns how much more memory this process may take: what the machine leaves or, if less, what one of its control
// groups leaves. It returns false if the system does not report this; only Linux does.
func Get() (Left, bool) {
	system := os.DirFS("/")
	return least(append(machine(system), groups(system)...))
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

// Control groups of version 1 that have no limit report at least this many bytes.
const unlimited = 1 << 60

func machine(system fs.FS) []Left {
	if kilobytes, ok := numberOf(system, "proc/meminfo", "MemAvailable:"); ok {
		return []Left{{kilobytes << 10, "this machine"}}
	}
	return nil
}

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
		// In a container the folder root may be the process's control group itself, and lack the group's full path.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			folder := path.Join(root, group)
			if most, ok := numberOf(system, path.Join(folder, limit), ""); ok && most < unlimited {
				used, _ := numberOf(system, path.Join(folder, usage), "")
				cached, _ := numberOf(system, path.Join(folder, "memory.stat"), idle+" ") // memory that can be freed
				all = append(all, Left{most - max(used-cached, 0), "this process's control group (" + limit + ")"})
			}
			if group == "/" {
				break
			}
		}
	}
	return all
}

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

const (
	anyway  = 256 << 20 // bytes of memory that reading any file may take, however small the file
	perByte = 64        // bytes that reading may allocate per byte of the file, beyond a fixed amount
)

// [Budget.Take] checks free memory each time another checkInterval bytes have been taken. reserve is the number of
// bytes that must stay free.
const (
	checkInterval = 16 << 20
	reserve       = 64 << 20
)

// Budget limits the memory that a file's content takes.
type Budget struct{ size, taken, looked int64 }

// NewBudget returns the memory budget for reading a file of size bytes.
func NewBudget(size int64) Budget { return Budget{size: size} }

// Take adds bytes to those taken so far. It returns an error if the sum exceeds what this file or this process may
// take.
func (b *Budget) Take(bytes int64) error {
	if most := anyway + perByte*b.size; bytes < 0 || bytes > most-b.taken {
		return fmt.Errorf("its content takes more than %s of memory, too much for a file of %s: expected one that is not "+
			"made to grow so", Text(most), Text(b.size))
	}
	b.taken += bytes
	if b.taken-b.looked < checkInterval {
		return nil
	}
	// need counts the memory to finish the graph: half of what was taken so far. need also counts twice the bytes
	// taken since the last check, because lists exist twice for a moment while they grow.
	need := b.taken/2 + 2*(b.taken-b.looked) + reserve
	b.looked = b.taken
	return Fits(need)
}

// Fits returns an error if this process may not take this many bytes more.
func Fits(bytes int64) error {
	if left, ok := Get(); ok && bytes > left.Bytes {
		return fmt.Errorf("this takes about %s of memory more, and %s has %s left: free some, or take a smaller graph",
			Text(bytes), left.Of, Text(left.Bytes))
	}
	return nil
}

// Parse returns the number of bytes (1 or more) of a size such as 2GiB, 500MB, 2G or 1000000. 2G means 2GB, not 2GiB.
func Parse(text string) (bytes int64, err error) {
	units := []struct {
		name string
		size float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
		{"TB", 1e12}, {"B", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x*u.size >= 1 && x*u.size < math.MaxInt64) {
			break
		}
		return int64(x * u.size), nil
	}
	return 0, errors.New("expected a size such as 2GiB or 500MB")
}
