package nb

import (
	"context"
	"os"
	"path/filepath"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/paper/record"
)

// small reports whether notebooks should do little, as when all of them are run to see that they work: whether
// NODEMASK_SMALL is set to something other than "" and "0".
func small() bool {
	small := os.Getenv("NODEMASK_SMALL")
	return small != "" && small != "0"
}

// UpTo returns n, a number of trials, or 1 if notebooks should do little.
func UpTo(n int) int {
	if small() {
		return min(n, 1)
	}
	return n
}

// liveFolder is where trials that notebooks run are kept, apart from the committed results.
func liveFolder() (string, error) {
	if folder := os.Getenv("NODEMASK_LIVE"); folder != "" {
		return folder, nil
	}
	project, err := checkout.Root()
	return filepath.Join(project, ".nodemask", "live"), err
}

// Live returns the results of what notebooks have trained on this machine.
func Live() *record.Results {
	return record.NewResults(Must1(record.Open(Must1(liveFolder())).Load()))
}

// Recorded returns the results that came with the project: what 'nodemask report' shows.
func Recorded() *record.Results {
	return saved().Records
}

// Data opens a data set by its name in 'nodemask data list', or a graph of your own by its path, in any of the formats
// that 'nodemask data --help' lists.
func Data(name string) *datasets.Graph {
	return Must1(datasets.Open(context.Background(), expand(name), datasets.OpenOptions{}))
}

// ask has a process of the command nodemask do what a request says, and calls each with every event. The stop button
// ends it with the error of a context that was cancelled.
func ask(r worker.Request, each func(worker.Event)) error {
	ctx, stop := notebook.UntilStopped()
	defer stop()
	return worker.Run(ctx, Must1(checkout.Root()), r, each)
}
