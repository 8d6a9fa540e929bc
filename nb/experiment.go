package nb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// Experiment returns an experiment with the defaults of 'nodemask train': new nodes arrive after training with all
// their edges, 10 % of the nodes are train nodes, nothing is masked, all trials share one split. Methods such as
// Masked(0.5) return changed copies. A model or graph that cannot be trained ends the notebook cell.
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

// storeOf returns the folder for trials on a graph. For a user's own file, the folder's name depends on the file's
// content, so a changed file gets another folder.
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

func described(cells []record.Cell) (labels []string, shared string) {
	facts := make([]map[string]string, len(cells))
	names := []string{"model", "keep"}
	for i, c := range cells {
		facts[i] = map[string]string{}
		add := func(name, words string) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			facts[i][name] = words
		}
		model := hyper.Title(c.Parameters.Model)
		if c.Parameters.KeepRate.Active() {
			model += " + NM"
		}
		add("model", model)
		if c.Parameters.KeepRate.Active() {
			add("keep", fmt.Sprintf("p = %v", c.Parameters.KeepRate.Probability()))
		}
		add("data", filepath.Base(c.Data))
		add("setting", string(c.Setting))
		add("size", fmt.Sprintf("%d %% to train on", c.TrainPercent))
		if c.Setting == datasets.Inductive {
			arrivals := c.Arrivals
			if arrivals == "" {
				arrivals = datasets.AllEdges
			}
			add("arrivals", fmt.Sprintf("new nodes arrive with %s", strings.ReplaceAll(string(arrivals), "-", " ")))
		}
		for _, choice := range c.Choices() {
			switch name := choice.Axis.Name; name {
			case "keep", "arrivals":
			case "resplit":
				add(name, "each trial has its own split")
			default:
				add(name, choice.Words())
			}
		}
	}
	var common []string
	parts := make([][]string, len(cells))
	for _, name := range names {
		var values []string
		same, masked := true, name != "model" && name != "keep"
		for i, f := range facts {
			same = same && f[name] == facts[0][name]
			masked = masked && (f[name] != "") == cells[i].Parameters.KeepRate.Active()
			if f[name] != "" && !slices.Contains(values, f[name]) {
				values = append(values, f[name])
			}
		}
		switch {
		case same && name != "model":
			common = append(common, values...)
		case masked && len(values) == 1:
			common = append(common, "with masking "+values[0])
		default:
			for i, f := range facts {
				if f[name] != "" {
					parts[i] = append(parts[i], f[name])
				}
			}
		}
	}
	for _, of := range parts {
		labels = append(labels, strings.Join(of, ", "))
	}
	if len(common) > 0 {
		shared = "All: " + strings.Join(common, ", ") + "."
	}
	return labels, shared
}
