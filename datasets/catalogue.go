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
	Embedded    bool   `json:"embedded"`             // nothing to fetch
	Parameters  string `json:"parameters,omitempty"` // of a generated data set: what may follow its name and a colon
	Files       []File `json:"files,omitempty"`
	Archive     *File  `json:"archive,omitempty"` // the zip with Files; nil: fetched one by one

	// Expected counts; 0 means not fixed.
	Nodes    int   `json:"nodes,omitempty"`
	Edges    int64 `json:"edges,omitempty"` // distinct and undirected
	Features int   `json:"features,omitempty"`
	Classes  int   `json:"classes,omitempty"`

	Kind      string  `json:"kind"`                // "citations"
	Homophily float64 `json:"homophily,omitempty"` // approximate share of edges within a class; 0: unknown
}

// MeanDegree returns the mean number of neighbours; 0 if not fixed.
func (i Info) MeanDegree() float64 {
	if i.Nodes == 0 {
		return 0
	}
	return 2 * float64(i.Edges) / float64(i.Nodes)
}

func (i Info) isNPZ() bool { return len(i.Files) == 1 && extension(i.Files[0].Name) == ".npz" }

// File is one file of a data set.
type File struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Size   int64  `json:"size,omitempty"`   // bytes; 0: unknown
	SHA256 string `json:"sha256,omitempty"` // hex; "": not published, so a fetch only records its own
	// Git is git's hex id of the content, checked if no SHA-256 is known; "" if unknown.
	Git string `json:"git_object,omitempty"`
}

func (i Info) generated() bool { return i.Parameters != "" }

// Catalogue returns the data sets known to [Open], grouped by kind.
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

// NameError reports an unknown data set, or parameters out of range.
type NameError struct {
	Name    string
	Problem string
}

// Error returns the quoted name and the problem.
func (e *NameError) Error() string { return fmt.Sprintf("%.200q: %s", e.Name, e.Problem) }

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

type parameter struct {
	name     string
	value    float64 // default
	min, max float64
	whole    bool // integers only
}

func parameterText(parameters []parameter) string {
	var text []string
	for _, p := range parameters {
		text = append(text, fmt.Sprintf("%s=%v", p.name, p.value))
	}
	return strings.Join(text, ",")
}

// readParameters reads a name such as "sbm:nodes=1000,seed=1".
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

// maxSeed: float64 holds every integer up to it.
const maxSeed = 1 << 53

// generator draws graphs; size returns their sizes (edges approximately).
type generator struct {
	parameters []parameter
	draw       func(ctx context.Context, p map[string]float64) (*Graph, error)
	size       func(i *Info, p map[string]float64)
}

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

// Generated returns the sizes (edges approximately) of a graph that [Open] generates; false for other names or
// parameters out of range.
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

// Memory returns the approximate bytes of a graph of these sizes with dense features.
func (i Info) Memory() int64 { return int64(i.Nodes)*(64+4*int64(i.Features)) + 8*i.Edges }

const (
	yandexURL    = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/"
	benchmarkURL = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"
)

// npzInfos lists the heterophilous benchmark, with ten splits per graph, and the gnn-benchmark collection. Homophily is
// measured if we had the file, else as its authors state it.
func npzInfos() []Info {
	yandex := func(name, kind, description, file string, nodes int, edges int64, features, classes int, homophily float64,
		f File) Info {
		f.Name = file + ".npz"
		f.URL = yandexURL + f.Name
		return Info{Name: name, Description: description, Licence: "MIT (the repository's)", Kind: kind, Files: []File{f},
			Homepage: "https://github.com/yandex-research/heterophilous-graphs", Nodes: nodes, Edges: edges,
			Features: features, Classes: classes, Homophily: homophily}
	}
	benchmark := func(name, kind, description, file, git string, nodes int, edges int64, features, classes int,
		homophily float64) Info {
		return Info{Name: name, Description: description, Licence: "MIT (the repository's)", Kind: kind,
			Files:    []File{{Name: file + ".npz", URL: benchmarkURL + file + ".npz", Git: git}},
			Homepage: "https://github.com/shchur/gnn-benchmark", Nodes: nodes, Edges: edges, Features: features,
			Classes: classes, Homophily: homophily}
	}
	return []Info{
		benchmark("coauthor-cs", "co-authors", "authors in computer science who wrote together; features: keywords",
			"ms_academic_cs", "9bdd7da943d86b74297e8d32e99eb64245b52835", 18_333, 81_894, 6_805, 15, 0.81),
		benchmark("coauthor-physics", "co-authors", "authors in physics who wrote together; features: keywords",
			"ms_academic_phy", "8d8bc12e29aa67f6753a712080eae81079bd7d01", 34_493, 247_962, 8_415, 5, 0.93),
		benchmark("amazon-photo", "products", "photo products bought together; features: words of reviews",
			"amazon_electronics_photo", "97323743cb56aca9dd611f5b4b46862c1c9c6bd9", 7_650, 119_081, 745, 8, 0.83),
		benchmark("amazon-computers", "products", "computer products bought together; features: words of reviews",
			"amazon_electronics_computers", "8120e4148a330b3fafe37c4476823302d9d834b9", 13_752, 245_861, 767, 10, 0.78),
		yandex("amazon-ratings", "products", "products bought together, by their rating; features: words",
			"amazon_ratings", 24_492, 93_050, 300, 5, 0.38, File{Git: "29647a8b0ff0ef856d73d683a8c3595bd5efbd38"}),
		yandex("tolokers", "people", "workers on one task, banned or not; features: their profiles", "tolokers", 11_758,
			519_000, 10, 2, 0.59, File{Size: 1_329_769,
				SHA256: "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"}),
		yandex("questions", "people", "who answered whom, still active or not; features: words", "questions", 48_921,
			153_540, 301, 2, 0.84, File{Git: "4c7cb65057dbc9771af00fdfdee64a41b3875079"}),
		yandex("actor", "web pages", "actors on one page of Wikipedia; features: words", "actor", 7_600, 26_659, 932, 5, 0.22,
			File{Size: 252_956, SHA256: "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"}),
		yandex("squirrel-filtered", "web pages", "pages on squirrels that link, without copies; features: words",
			"squirrel_filtered", 2_223, 46_998, 2_089, 5, 0.21, File{Size: 208_215,
				SHA256: "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7"}),
		yandex("chameleon-filtered", "web pages", "pages on chameleons that link, without copies; features: words",
			"chameleon_filtered", 890, 8_854, 2_325, 5, 0.24, File{}),
		yandex("roman-empire", "words", "words of an article, by their role; features: word vectors", "roman_empire", 22_662,
			32_927, 300, 18, 0.05, File{Git: "1f9bae5e95b28e529015269e98acb237b65d8d3b"}),
		yandex("minesweeper", "grids", "fields of a game, mined or not; features: mines around", "minesweeper", 10_000, 39_402,
			7, 2, 0.68, File{Size: 135_045,
				SHA256: "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"}),
	}
}
