package nb

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"nodemask/datasets"
	"nodemask/datasets/parquet"
	"nodemask/internal/checkout"
	"nodemask/paper"
	"nodemask/record"
)

// Small reports whether notebooks should do little, as when all of them are run to see that they work: whether
// NODEMASK_SMALL is set to something other than "" and "0".
func Small() bool {
	small := os.Getenv("NODEMASK_SMALL")
	return small != "" && small != "0"
}

// UpTo returns n, a number of trials, or 1 if notebooks should do little.
func UpTo(n int) int {
	if Small() {
		return min(n, 1)
	}
	return n
}

// Project returns the folder of the project that the notebook is in.
func Project() (string, error) { return checkout.Root() }

// liveFolder is where trials that notebooks run are kept, apart from the committed results.
func liveFolder() (string, error) {
	if folder := os.Getenv("NODEMASK_LIVE"); folder != "" {
		return folder, nil
	}
	project, err := Project()
	return filepath.Join(project, ".nodemask", "live"), err
}

// Live returns the results of what notebooks have trained on this machine.
func Live() *record.Results {
	return record.NewResults(Must1(record.OpenStore(Must1(liveFolder())).Load()))
}

// Recorded returns the results that came with the project: what 'nodemask report' shows.
func Recorded() *record.Results {
	return Must1(paper.OpenRecords(filepath.Join(Must1(Project()), "results")))
}

// Data opens a data set by its name in 'nodemask data list', or a graph of your own by its path, in any of the formats that
// 'nodemask data --help' lists.
func Data(name string) *datasets.Graph {
	return Must1(datasets.Open(context.Background(), name, datasets.OpenOptions{Readers: []datasets.Reader{parquet.Reader{}}}))
}

// interruptible is a context that ends when the notebook's stop button is pressed.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
