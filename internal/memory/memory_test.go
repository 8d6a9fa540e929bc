package memory

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func files(texts map[string]string) fstest.MapFS {
	system := fstest.MapFS{}
	for name, text := range texts {
		system[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return system
}

func TestWhatIsLeftIsTheLeastThatMachineAndGroupsLeave(t *testing.T) {
	const machineHas = "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n"
	for what, c := range map[string]struct {
		texts map[string]string
		left  int64
		of    string
	}{
		"no group": {map[string]string{"proc/meminfo": machineHas}, 20000000 << 10, "this machine"},
		"version 2": {map[string]string{"proc/meminfo": machineHas, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/user/job/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "4000\n",
			"sys/fs/cgroup/user/memory.current": "3000\n", "sys/fs/cgroup/user/memory.stat": "anon 5\ninactive_file " +
				"500\n"}, 1500, "this process's control group (memory.max)"},
		"version 1": {map[string]string{"proc/meminfo": machineHas,
			"proc/self/cgroup":                           "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "2000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "700\n",
			"sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 200\n"}, 1500, "this process's control " +
			"group (memory.limit_in_bytes)"},
		"version 1 without a limit": {map[string]string{"proc/meminfo": machineHas, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 20000000 << 10, "this machine"},
		"more used than allowed": {map[string]string{"proc/meminfo": machineHas, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "100\n", "sys/fs/cgroup/memory.current": "300\n"}, 0, "this process's control group " +
			"(memory.max)"},
	} {
		left, ok := least(append(machine(files(c.texts)), groups(files(c.texts))...))
		require.True(t, ok, what)
		require.Equal(t, Left{c.left, c.of}, left, what)
	}
	rubbish := files(map[string]string{"proc/self/cgroup": "rubbish\n::\n"})
	_, ok := least(append(machine(files(nil)), groups(rubbish)...))
	require.False(t, ok, "a system that does not say")
}

func TestBytesAreWrittenForPeople(t *testing.T) {
	for bytes, want := range map[int64]string{12: "12 bytes", 3e6: "3 MB", 1500e6: "1.5 GB", 2e13: "20000.0 GB"} {
		require.Equal(t, want, Text(bytes))
	}
}

func TestSizesOfMemoryHaveUnits(t *testing.T) {
	for text, want := range map[string]int64{"2GiB": 2 << 30, "1.5 MB": 1_500_000, "100": 100, "1B": 1, "3TB": 3e12,
		"4KiB": 4096, "1G": 1e9, "500M": 5e8, "2 K": 2000, "1T": 1e12} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "GiB", "0", "1e30", "2GiBs", "NaN", "2 Gi", "G"} {
		_, err := Parse(text)
		require.Error(t, err, text)
	}
}

func TestABudgetGrowsWithTheFile(t *testing.T) {
	small, large := NewBudget(1000), NewBudget(1<<20)
	require.NoError(t, small.Take(anyway))
	require.NoError(t, small.Take(64_000))
	require.ErrorContains(t, small.Take(1),
		"its content takes more than 268 MB of memory, too much for a file of 1000 bytes")
	require.NoError(t, large.Take(anyway+1))
	require.Error(t, large.Take(1<<62), "no sum overflows")
	require.Error(t, large.Take(-1))
}

func TestWhatThisProcessMayNotHaveIsRefused(t *testing.T) {
	require.NoError(t, Fits(1))
	require.ErrorContains(t, Fits(1<<60), "of memory more, and")
	b := NewBudget(1 << 50)
	require.ErrorContains(t, b.Take(1<<55), "of memory more, and")
}
