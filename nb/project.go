package nb

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/paper"
)

// Small says whether notebooks are to do with little, as when all of them are run to see that they work: NODEMASK_SMALL
// is set to something other than "" and "0".
func Small() bool {
	small := os.Getenv("NODEMASK_SMALL")
	return small != "" && small != "0"
}

// UpTo is n, or 1 where notebooks are to do with little: for numbers of trials.
func UpTo(n int) int {
	if Small() {
		return min(n, 1)
	}
	return n
}

// Project is the folder of the project that the notebook is in: the nearest one up from here whose go.mod is nodemask's.
func Project() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := here; ; folder = filepath.Dir(folder) {
		mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module nodemask\n") {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is in no clone of nodemask: open the notebook from its folder notebooks/", here)
		}
	}
}

// liveFolder is where trials that notebooks run are kept, apart from the committed results.
func liveFolder() (string, error) {
	if folder := os.Getenv("NODEMASK_LIVE"); folder != "" {
		return folder, nil
	}
	project, err := Project()
	return filepath.Join(project, ".nodemask", "live"), err
}

// Live are the results of what notebooks have trained on this machine.
func Live() *paper.Results {
	return paper.NewResults(Must1(paper.OpenStore(Must1(liveFolder())).Load()))
}

// Recorded are the results that came with the project: what 'nodemask report' shows.
func Recorded() *paper.Results {
	return paper.NewResults(Must1(paper.OpenStore(filepath.Join(Must1(Project()), "results")).Load()))
}

// Data opens a data set by its name, as 'nodemask data list' has it.
func Data(name string) *datasets.Graph {
	return Must1(datasets.Open(context.Background(), name, datasets.OpenOptions{}))
}

var backend = sync.OnceValues(func() (*nmgnn.Backend, error) { return nmgnn.OpenBackend("") })

// Backend is what computations run on: the best that is usable here, or $GOMLX_BACKEND.
func Backend() *nmgnn.Backend { return Must1(backend()) }

// interruptible is a context that ends when the notebook's stop button is pressed.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
