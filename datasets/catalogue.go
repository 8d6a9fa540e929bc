package datasets

import (
	"fmt"
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
	Embedded    bool   `json:"embedded"`             // the program contains it
	Parameters  string `json:"parameters,omitempty"` // defaults of a generated graph's parameters
	Files       []File `json:"files,omitempty"`
	Archive     *File  `json:"archive,omitempty"` // zip of Files; nil: fetched one by one

	// Expected counts; 0 accepts any count.
	Nodes    int   `json:"nodes,omitempty"`
	Edges    int64 `json:"edges,omitempty"` // distinct and undirected
	Features int   `json:"features,omitempty"`
	Classes  int   `json:"classes,omitempty"`

	Kind      string  `json:"kind"`                // "citations"
	Homophily float64 `json:"homophily,omitempty"` // approximate share of edges within a class; 0: unknown
}

// MeanDegree returns the mean number of neighbours; 0 if Nodes is 0.
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
	SHA256 string `json:"sha256,omitempty"` // hex; "": not published
	// Git is the hex id of the content's git object, or "". It is used to check the content only if SHA256 is "".
	Git string `json:"git_object,omitempty"`
}

func (i Info) generated() bool { return i.Parameters != "" }

// Catalogue returns the data sets known to [Open], grouped by kind.
func Catalogue() []Info {
	all := []Info{
		{Name: "cora", Description: "citations among machine-learning papers; features: words present", Embedded: true,
			Nodes: 2_708, Edges: 5_278, Features: 1_433, Classes: 7, Homophily: 0.81},
		{Name: "citeseer", Description: "citations among computer-science papers; features: words present",
			Nodes: 3_327, Edges: 4_552, Features: 3_703, Classes: 6, Homophily: 0.74},
		{Name: "pubmed", Description: "citations among papers on diabetes; features: TF-IDF of words", Embedded: true,
			Nodes: 19_717, Edges: 44_324, Features: 500, Classes: 3, Homophily: 0.80},
	}
	for i := range all {
		all[i].Kind, all[i].Homepage = "citations", "https://github.com/kimiyoung/planetoid"
		all[i].Licence = "none stated for the data (Sen et al., 2008); the Planetoid repository that hosts it is under MIT"
		all[i].Files = planetoidFiles(all[i].Name)
	}
	all = append(all, npzInfos()...)
	return append(all,
		Info{
			Kind:        "posts",
			Name:        "reddit",
			Description: "posts of September 2014, joined if one user commented on both; features: word vectors",
			Licence:     "none stated by its authors (Hamilton, Ying and Leskovec, 2017); made from public Reddit posts",
			Homepage:    "https://snap.stanford.edu/graphsage/",
			Files:       []File{{Name: "reddit_data.npz"}, {Name: "reddit_graph.npz"}},
			Archive:     &File{Name: "reddit.zip", URL: "https://data.dgl.ai/dataset/reddit.zip"},
			Nodes:       232_965,
			Edges:       57_307_946,
			Features:    602,
			Classes:     41,
		},
		Info{
			Kind:        "generated",
			Name:        "sbm",
			Description: "a generated stochastic block model: classes are blocks that edges prefer",
			Licence:     "generated: none needed",
			Parameters:  "nodes=1000,classes=5,degree=8,homophily=0.8,features=16,seed=1",
		},
	)
}

// NameError reports an unknown data set, or invalid parameters in its name.
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

func sbmOptions(name string) (SBMOptions, error) {
	o := SBMOptions{Nodes: 1000, Classes: 5, MeanDegree: 8, Seed: 1}
	_, text, _ := strings.Cut(name, ":")
	for assignment := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSpace(assignment), "=")
		whole, err := strconv.ParseInt(value, 10, 53)
		switch key {
		case "nodes":
			o.Nodes = int(whole)
		case "classes":
			o.Classes = int(whole)
		case "features":
			o.Features = int(whole)
		case "seed":
			o.Seed = uint64(whole)
		case "degree":
			o.MeanDegree, err = strconv.ParseFloat(value, 64)
		case "homophily":
			o.Homophily, err = strconv.ParseFloat(value, 64)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || whole < 0 || value == "0" && key != "seed" {
			return o, &NameError{Name: name, Problem: fmt.Sprintf("%.40q: expected name=value with one of nodes, classes, "+
				"degree, homophily, features and seed, and a number above 0", assignment)}
		}
	}
	o, err := o.withDefaults()
	if err != nil {
		err = &NameError{Name: name, Problem: err.Error()}
	}
	return o, err
}

// Generated returns the sizes of a graph that [Open] generates; Edges is approximate. It returns false for names of
// other graphs, and if the parameters in name are invalid.
func Generated(name string) (Info, bool) {
	info, err := lookup(name)
	if err != nil || !info.generated() {
		return Info{}, false
	}
	o, err := sbmOptions(name)
	info.Nodes, info.Classes, info.Features = o.Nodes, o.Classes, o.Features
	info.Edges = int64(float64(o.Nodes) * o.MeanDegree / 2)
	return info, err == nil
}

// Memory returns the approximate memory, in bytes, of a graph of these sizes with dense features.
func (i Info) Memory() int64 { return int64(i.Nodes)*(64+4*int64(i.Features)) + 8*i.Edges }

// Values of Homophily were measured where the data set's file was at hand; other values are copied from publications.
func npzInfos() []Info {
	const gnnBenchmark, heterophilous = "https://github.com/shchur/gnn-benchmark",
		"https://github.com/yandex-research/heterophilous-graphs"
	folders := map[string]string{gnnBenchmark: "/raw/master/data/npz/", heterophilous: "/raw/main/data/"}
	all := []Info{
		{Name: "coauthor-cs", Kind: "co-authors",
			Description: "authors in computer science who wrote together; features: keywords",
			Nodes:       18_333, Edges: 81_894, Features: 6_805, Classes: 15, Homophily: 0.81, Homepage: gnnBenchmark,
			Files: []File{{Name: "ms_academic_cs.npz", Git: "9bdd7da943d86b74297e8d32e99eb64245b52835"}}},
		{Name: "coauthor-physics", Kind: "co-authors",
			Description: "authors in physics who wrote together; features: keywords",
			Nodes:       34_493, Edges: 247_962, Features: 8_415, Classes: 5, Homophily: 0.93, Homepage: gnnBenchmark,
			Files: []File{{Name: "ms_academic_phy.npz", Git: "8d8bc12e29aa67f6753a712080eae81079bd7d01"}}},
		{Name: "amazon-photo", Kind: "products",
			Description: "photo products bought together; features: words of reviews",
			Nodes:       7_650, Edges: 119_081, Features: 745, Classes: 8, Homophily: 0.83, Homepage: gnnBenchmark,
			Files: []File{{Name: "amazon_electronics_photo.npz", Git: "97323743cb56aca9dd611f5b4b46862c1c9c6bd9"}}},
		{Name: "amazon-computers", Kind: "products",
			Description: "computer products bought together; features: words of reviews",
			Nodes:       13_752, Edges: 245_861, Features: 767, Classes: 10, Homophily: 0.78, Homepage: gnnBenchmark,
			Files: []File{{Name: "amazon_electronics_computers.npz", Git: "8120e4148a330b3fafe37c4476823302d9d834b9"}}},
		{Name: "amazon-ratings", Kind: "products",
			Description: "products bought together, by their rating; features: words",
			Nodes:       24_492, Edges: 93_050, Features: 300, Classes: 5, Homophily: 0.38, Homepage: heterophilous,
			Files: []File{{Name: "amazon_ratings.npz", Git: "29647a8b0ff0ef856d73d683a8c3595bd5efbd38"}}},
		{Name: "tolokers", Kind: "people",
			Description: "workers on one task, banned or not; features: their profiles",
			Nodes:       11_758, Edges: 519_000, Features: 10, Classes: 2, Homophily: 0.59, Homepage: heterophilous,
			Files: []File{{Name: "tolokers.npz", Size: 1_329_769,
				SHA256: "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"}}},
		{Name: "questions", Kind: "people",
			Description: "who answered whom, still active or not; features: words",
			Nodes:       48_921, Edges: 153_540, Features: 301, Classes: 2, Homophily: 0.84, Homepage: heterophilous,
			Files: []File{{Name: "questions.npz", Git: "4c7cb65057dbc9771af00fdfdee64a41b3875079"}}},
		{Name: "actor", Kind: "web pages",
			Description: "actors on one page of Wikipedia; features: words",
			Nodes:       7_600, Edges: 26_659, Features: 932, Classes: 5, Homophily: 0.22, Homepage: heterophilous,
			Files: []File{{Name: "actor.npz", Size: 252_956,
				SHA256: "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"}}},
		{Name: "squirrel-filtered", Kind: "web pages",
			Description: "pages on squirrels that link, without copies; features: words",
			Nodes:       2_223, Edges: 46_998, Features: 2_089, Classes: 5, Homophily: 0.21, Homepage: heterophilous,
			Files: []File{{Name: "squirrel_filtered.npz", Size: 208_215,
				SHA256: "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7"}}},
		{Name: "chameleon-filtered", Kind: "web pages",
			Description: "pages on chameleons that link, without copies; features: words",
			Nodes:       890, Edges: 8_854, Features: 2_325, Classes: 5, Homophily: 0.24, Homepage: heterophilous,
			Files: []File{{Name: "chameleon_filtered.npz"}}},
		{Name: "roman-empire", Kind: "words",
			Description: "words of an article, by their role; features: word vectors",
			Nodes:       22_662, Edges: 32_927, Features: 300, Classes: 18, Homophily: 0.05, Homepage: heterophilous,
			Files: []File{{Name: "roman_empire.npz", Git: "1f9bae5e95b28e529015269e98acb237b65d8d3b"}}},
		{Name: "minesweeper", Kind: "grids",
			Description: "fields of a game, mined or not; features: mines around",
			Nodes:       10_000, Edges: 39_402, Features: 7, Classes: 2, Homophily: 0.68, Homepage: heterophilous,
			Files: []File{{Name: "minesweeper.npz", Size: 135_045,
				SHA256: "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"}}},
	}
	for i := range all {
		f := &all[i].Files[0]
		f.URL = all[i].Homepage + folders[all[i].Homepage] + f.Name
		all[i].Licence = "MIT (the repository's)"
	}
	return all
}
