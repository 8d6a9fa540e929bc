package nb

import (
	"context"
	"os"
	"path/filepath"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/paper/record"
)

func small() bool {
	small := os.Getenv("NODEMASK_SMALL")
	return small != "" && small != "0"
}

// UpTo returns n, a number of trials, but at most 1 if NODEMASK_SMALL is set and not "0".
func UpTo(n int) int {
	if small() {
		return min(n, 1)
	}
	return n
}

func liveFolder() (string, error) {
	if folder := os.Getenv("NODEMASK_LIVE"); folder != "" {
		return folder, nil
	}
	project, err := checkout.Root()
	return filepath.Join(project, ".nodemask", "live"), err
}

// Live returns the results of trials that notebooks ran on this machine.
func Live() *record.Results {
	return record.NewResults(Must1(record.Open(Must1(liveFolder())).Load()))
}

// Recorded returns the project's recorded results, as in 'nodemask report'.
func Recorded() *record.Results {
	return saved().Records
}

// Data opens a data set that 'nodemask data list' names, or a graph file (formats: 'nodemask data --help').
func Data(name string) *datasets.Graph {
	return Must1(datasets.Open(context.Background(), expand(name), datasets.OpenOptions{}))
}
