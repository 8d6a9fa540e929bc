package nb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/record"
)

// Experiment returns an experiment with the defaults of 'nodemask train': new nodes arrive after training with all
// their edges, 10 % of the nodes are train nodes, nothing is masked, all trials share one split. Methods such as
// Masked(0.5) change it. It ends the cell if the model or graph cannot be trained.
func Experiment[D string | *datasets.Graph](data D, model string) record.Cell {
	name := ""
	switch d := any(data).(type) {
	case string:
		name = expand(d)
	case *datasets.Graph:
		Must(d.CheckTrainable())
		name = nameOf(d)
	}
	c := record.NewCell(name, model, datasets.Inductive, 10)
	check([]record.Cell{c})
	return c
}

// nameOf returns a graph's file, else its name. A graph that is neither in a file nor in the catalogue ends the cell.
func nameOf(g *datasets.Graph) string {
	if isFile(g.Source) {
		return g.Source
	}
	if _, generated := datasets.Generated(g.Name); !generated && !inCatalogue(g.Name) {
		Must(fmt.Errorf("graph %q was made in this cell: expected one that nb.Data returned (incell.Train trains others)",
			g.Name))
	}
	return g.Name
}

// idOf returns a node's number, or its id where the number is another node's id.
func idOf(g *datasets.Graph, v int32) string {
	number := strconv.Itoa(int(v))
	if found, _ := g.FindNode(number); found != v && v >= 0 && int(v) < len(g.NodeIDs) {
		return g.NodeIDs[v]
	}
	return number
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return path
}

// storeOf returns one folder per content of a user's graph: trials on an older file are not reused.
func storeOf(data string) (string, error) {
	live, err := liveFolder()
	if err != nil || !isFile(data) || inCatalogue(data) {
		return live, err
	}
	return filepath.Join(live, "own-"+Data(data).ContentHash()[:16]), nil
}

func inCatalogue(data string) bool {
	return slices.ContainsFunc(datasets.Catalogue(), func(info datasets.Info) bool { return info.Name == data })
}

func trained(cells []record.Cell) *record.Results {
	var all []record.Record
	seen := map[string]bool{}
	for _, c := range cells {
		folder := Must1(storeOf(c.Data))
		if !seen[folder] {
			seen[folder] = true
			all = append(all, Must1(record.Open(folder).Load())...)
		}
	}
	return record.NewResults(all)
}

// labelsOf returns [Label] of each cell, with data, setting and size where several cells have the same.
func labelsOf(cells []record.Cell) []string {
	labels, count := make([]string, len(cells)), map[string]int{}
	for i, c := range cells {
		labels[i] = Label(c)
		count[labels[i]]++
	}
	for i, c := range cells {
		if count[labels[i]] > 1 {
			labels[i] += ", " + titleOf([]record.Cell{c})
		}
	}
	return labels
}
