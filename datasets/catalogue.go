package datasets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Info describes a data set that [Open] knows by name.
type Info struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Licence     string `json:"licence"`
	Homepage    string `json:"homepage,omitempty"`
	Embedded    bool   `json:"embedded"`             // part of the library: nothing to fetch
	Parameters  string `json:"parameters,omitempty"` // for generated ones: what may follow the name and a colon
	Files       []File `json:"files,omitempty"`      // what it is read from
	Archive     *File  `json:"archive,omitempty"`    // the zip that holds Files, if they are not fetched one by one

	// What a reader must find; 0: not fixed.
	Nodes    int   `json:"nodes,omitempty"`
	Edges    int64 `json:"edges,omitempty"` // distinct and undirected
	Features int   `json:"features,omitempty"`
	Classes  int   `json:"classes,omitempty"`

	Kind      string  `json:"kind"`                // "citations"
	Homophily float64 `json:"homophily,omitempty"` // share of edges that join two nodes of a class, about; 0: not known
}

// MeanDegree returns how many neighbours a node has on average; 0 if that is not fixed.
func (i Info) MeanDegree() float64 {
	if i.Nodes == 0 {
		return 0
	}
	return 2 * float64(i.Edges) / float64(i.Nodes)
}

// isNPZ reports whether the data set is one npz file of a graph.
func (i Info) isNPZ() bool { return len(i.Files) == 1 && extension(i.Files[0].Name) == ".npz" }

// File describes one file of a data set.
type File struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Size   int64  `json:"size,omitempty"`   // in bytes; 0: not known
	SHA256 string `json:"sha256,omitempty"` // in hex; "": not published, so that a fetch can only state what it got
	// Git is the id that git gives the content, in hex, held against a file whose SHA-256 is not known; "": not known.
	Git string `json:"git_object,omitempty"`
}

// generated reports whether the data set is made by a generator, not read.
func (i Info) generated() bool { return i.Parameters != "" }

// Catalogue returns the data sets that [Open] knows by name, those of one kind together.
func Catalogue() []Info {
	all := []Info{
		planetoidInfo("cora", "citations among machine-learning papers; features: words present", true, 0.81),
		planetoidInfo("citeseer", "citations among computer-science papers; features: words present", false, 0.74),
		planetoidInfo("pubmed", "citations among papers on diabetes; features: TF-IDF of words", true, 0.80),
	}
	all = append(all, npzInfos()...)
	return append(all,
		Info{
			Kind:        "posts",
			Name:        "reddit",
			Description: "posts of September 2014, joined if one user commented on both; features: word vectors",
			Licence:     "none stated by its authors (Hamilton, Ying and Leskovec, 2017); made from public Reddit posts",
			Homepage:    "https://snap.stanford.edu/graphsage/",
			Files:       []File{{Name: redditDataFile}, {Name: redditGraphFile}},
			Archive:     &File{Name: "reddit.zip", URL: "https://data.dgl.ai/dataset/reddit.zip"},
			Nodes:       int(reddit.nodes),
			Edges:       reddit.directed / 2,
			Features:    int(reddit.features),
			Classes:     reddit.classes,
		},
		Info{
			Kind:        "generated",
			Name:        "reddit-like",
			Description: "a generated graph of Reddit's shape, at any scale",
			Licence:     "generated: none needed",
			Parameters:  parameterText(generators["reddit-like"].parameters),
		},
		Info{
			Kind:        "generated",
			Name:        "sbm",
			Description: "a generated stochastic block model: classes are blocks that edges prefer",
			Licence:     "generated: none needed",
			Parameters:  parameterText(generators["sbm"].parameters),
		},
	)
}

func planetoidInfo(name, description string, embedded bool, homophily float64) Info {
	c := planetoidPublished[name]
	return Info{
		Name:        name,
		Description: description,
		Licence:     "none stated for the data (Sen et al., 2008); the Planetoid repository that hosts it is under MIT",
		Homepage:    "https://github.com/kimiyoung/planetoid",
		Embedded:    embedded,
		Files:       planetoidFiles(name),
		Nodes:       c.nodes,
		Edges:       c.edges,
		Features:    c.features,
		Classes:     c.classes,
		Kind:        "citations",
		Homophily:   homophily,
	}
}

// NameError says what is wrong with the name of a data set: no data set has it, or its parameters are out of range.
type NameError struct {
	Name    string
	Problem string
}

// Error quotes the name and says what is wrong with it.
func (e *NameError) Error() string { return fmt.Sprintf("%.200q: %s", e.Name, e.Problem) }

// lookup returns the entry of a data set, whose name may carry parameters after a colon, or a [*NameError] that lists
// what there is.
func lookup(name string) (Info, error) {
	base, parameters, found := strings.Cut(name, ":")
	all := Catalogue()
	i := slices.IndexFunc(all, func(info Info) bool { return info.Name == base })
	if i < 0 {
		return Info{}, &NameError{Name: name, Problem: "no such data set: expected a name that 'nodemask data list' shows, " +
			"such as cora, or the path of " + layouts}
	}
	if found && !all[i].generated() && !all[i].isNPZ() {
		return Info{}, &NameError{Name: name, Problem: fmt.Sprintf("%s takes no parameters: leave out %q",
			base, ":"+parameters)}
	}
	return all[i], nil
}

// parameter is a number that a generator takes from the name of its data set.
type parameter struct {
	name     string
	value    float64 // if the name does not give one
	min, max float64
	whole    bool // an integer
}

// parameterText returns the parameters with their values, as a name may carry them.
func parameterText(parameters []parameter) string {
	var text []string
	for _, p := range parameters {
		text = append(text, fmt.Sprintf("%s=%v", p.name, p.value))
	}
	return strings.Join(text, ",")
}

// readParameters reads what follows the colon in a name such as "sbm:nodes=1000,seed=1" and returns all values by name.
func readParameters(name string, known []parameter) (map[string]float64, error) {
	values := map[string]float64{}
	var names []string
	for _, p := range known {
		values[p.name] = p.value
		names = append(names, p.name)
	}
	_, text, found := strings.Cut(name, ":")
	if !found || text == "" {
		return values, nil
	}
	seen := map[string]bool{}
	for assignment := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(assignment, "=")
		key = strings.TrimSpace(key)
		i := slices.IndexFunc(known, func(p parameter) bool { return p.name == key })
		if i < 0 {
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("no parameter %.40q: expected name=value with one of %s",
				assignment, strings.Join(names, ", "))}
		}
		if seen[key] {
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("%s is there twice", key)}
		}
		seen[key] = true
		p := known[i]
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(v >= p.min && v <= p.max) || p.whole && v != math.Trunc(v) {
			kind := "number"
			if p.whole {
				kind = "whole number"
			}
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("%.40q: expected a %s from %v to %v",
				assignment, kind, p.min, p.max)}
		}
		values[key] = v
	}
	return values, nil
}

// maxSeed is the last number up to which float64 holds every whole one.
const maxSeed = 1 << 53

// generator draws the graphs of a name that takes parameters, and sets their sizes, edges about.
type generator struct {
	parameters []parameter
	draw       func(ctx context.Context, p map[string]float64) (*Graph, error)
	size       func(i *Info, p map[string]float64)
}

// generators are those of the data sets that have no files.
var generators = map[string]generator{
	"sbm": {
		[]parameter{
			{name: "nodes", value: 1000, min: 2, max: 50_000_000, whole: true},
			{name: "classes", value: 5, min: 1, max: 10_000, whole: true},
			{name: "degree", value: 8, min: 0.01, max: 10_000},
			{name: "seed", value: 1, min: 0, max: maxSeed, whole: true},
		},
		func(ctx context.Context, p map[string]float64) (*Graph, error) {
			return SBM(ctx, SBMOptions{Nodes: int(p["nodes"]), Classes: int(p["classes"]), MeanDegree: p["degree"],
				Seed: uint64(p["seed"])})
		},
		func(i *Info, p map[string]float64) {
			i.Nodes, i.Classes, i.Features = int(p["nodes"]), int(p["classes"]), sbmFeatures
			i.Edges = int64(p["nodes"] * p["degree"] / 2)
		},
	},
	"reddit-like": {
		[]parameter{
			{name: "scale", value: 0.1, min: minRedditScale, max: maxRedditScale},
			{name: "seed", value: 1, min: 0, max: maxSeed, whole: true},
		},
		func(ctx context.Context, p map[string]float64) (*Graph, error) {
			return redditLike(ctx, p["scale"], uint64(p["seed"]))
		},
		func(i *Info, p map[string]float64) {
			i.Nodes, i.Edges = redditNodes(p["scale"]), int64(float64(reddit.directed/2)*p["scale"])
			i.Classes, i.Features = reddit.classes, int(reddit.features)
		},
	},
}

// Generated returns the sizes of a graph that [Open] generates by its name, its edges about. The second result is false
// for other names, and for parameters that cannot be.
func Generated(name string) (Info, bool) {
	info, err := lookup(name)
	if err != nil || !info.generated() {
		return Info{}, false
	}
	g := generators[info.Name]
	p, err := readParameters(name, g.parameters)
	g.size(&info, p)
	return info, err == nil
}

// Memory estimates how many bytes a graph of these sizes takes, with dense features.
func (i Info) Memory() int64 { return int64(i.Nodes)*(64+4*int64(i.Features)) + 8*i.Edges }
