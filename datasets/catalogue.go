package datasets

import (
	"fmt"
	"slices"
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
}

// File is one file of a data set.
type File struct {
	Name   string `json:"name"`
	URL    string `json:"url,omitempty"`
	Size   int64  `json:"size,omitempty"`   // in bytes; 0: not known
	SHA256 string `json:"sha256,omitempty"` // in hex; "": not published, so that a fetch can only state what it got
}

// generated says whether the data set is made by a generator, not read.
func (i Info) generated() bool { return i.Parameters != "" }

// downloadable says whether [Fetch] can get the data set's files.
func (i Info) downloadable() bool { return len(i.Files) > 0 }

// Counts of the catalogue's citation graphs: nodes, distinct undirected edges, features, classes.
type counts struct {
	nodes    int
	edges    int64
	features int
	classes  int
}

const planetoidURL = "https://github.com/kimiyoung/planetoid/raw/master/data/"

// Catalogue lists the data sets that [Open] knows by name.
func Catalogue() []Info {
	return []Info{
		planetoidInfo("cora", "citations among machine-learning papers; features: words present", true, counts{2_708, 5_278, 1_433, 7}),
		planetoidInfo("citeseer", "citations among computer-science papers; features: words present", false, counts{3_327, 4_552, 3_703, 6}),
		planetoidInfo("pubmed", "citations among papers on diabetes; features: TF-IDF of words", true, counts{19_717, 44_324, 500, 3}),
		{
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
		{
			Name:        "reddit-like",
			Description: "a generated graph of Reddit's shape, at any scale",
			Licence:     "generated: none needed",
			Parameters:  "scale=0.1,seed=1",
		},
		{
			Name:        "sbm",
			Description: "a generated stochastic block model: classes are blocks that edges prefer",
			Licence:     "generated: none needed",
			Parameters:  "nodes=1000,classes=5,degree=8,seed=1",
		},
	}
}

func planetoidInfo(name, description string, embedded bool, c counts) Info {
	info := Info{
		Name:        name,
		Description: description,
		Licence:     "none stated for the data (Sen et al., 2008); the Planetoid repository that hosts it is under MIT",
		Homepage:    "https://github.com/kimiyoung/planetoid",
		Embedded:    embedded,
		Nodes:       c.nodes,
		Edges:       c.edges,
		Features:    c.features,
		Classes:     c.classes,
	}
	for _, part := range []string{"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"} {
		file := "ind." + name + "." + part
		info.Files = append(info.Files, File{Name: file, URL: planetoidURL + file, Size: planetoidSizes[file], SHA256: planetoidSums[file]})
	}
	return info
}

// NameError says that a name is not that of a data set, or that its parameters cannot be.
type NameError struct {
	Name    string
	Problem string
}

// Error quotes the name and says what is wrong with it.
func (e *NameError) Error() string { return fmt.Sprintf("%.200q: %s", e.Name, e.Problem) }

// lookup returns the entry of a data set. The name may carry parameters after a colon. It returns a [*NameError] that lists
// what exists if there is none.
func lookup(name string) (Info, error) {
	base, parameters, found := strings.Cut(name, ":")
	all := Catalogue()
	i := slices.IndexFunc(all, func(info Info) bool { return info.Name == base })
	if i < 0 {
		var names []string
		for _, info := range all {
			names = append(names, info.Name)
		}
		return Info{}, &NameError{Name: name, Problem: "no such data set: expected one of " + strings.Join(names, ", ") +
			", the path of an .npz file, or a folder with " + csvNodesFile + " and " + csvEdgesFile}
	}
	if found && !all[i].generated() {
		return Info{}, &NameError{Name: name, Problem: fmt.Sprintf("%s takes no parameters: leave out %q", base, ":"+parameters)}
	}
	return all[i], nil
}
