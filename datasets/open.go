package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets/internal/formats"
	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/ended"
)

// OpenOptions configures [Open].
type OpenOptions struct {
	// Dir is searched first, then $NODEMASK_DATA, then the folder nodemask in the user's cache folder. An embedded data
	// set is read from files only if Dir has them.
	Dir string
}

func (o OpenOptions) folders() []string {
	dirs := []string{o.Dir, os.Getenv("NODEMASK_DATA")}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "nodemask"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// NotFoundError reports a data set of the catalogue, or a path, that is not on this machine.
type NotFoundError struct {
	Name    string
	File    string // the first missing file
	Folders []string
	Fetch   bool // whether [Fetch] can download the data set
}

// Error returns where the data set was looked for and how to get it.
func (e *NotFoundError) Error() string {
	if !e.Fetch {
		return e.Name + ": no such file or folder"
	}
	where := cmp.Or(strings.Join(e.Folders, ", "), "nowhere: no folder is known")
	return fmt.Sprintf("%s: %s is not there (looked in %s): run 'nodemask data fetch %[1]s', or name the folder that holds "+
		"it by NODEMASK_DATA", e.Name, e.File, where)
}

// Location is where [Open] reads a data set.
type Location struct {
	Info Info   `json:"info"`
	Dir  string `json:"dir,omitempty"`  // folder of the data set's files; "" if embedded or generated
	Path string `json:"path,omitempty"` // a user's own file or folder

	choice graphfile.Choice
}

// String returns the data set's file or folder, or "embedded" or "generated".
func (l Location) String() string {
	switch {
	case l.Path != "":
		return l.Path
	case l.Dir != "":
		return l.Dir
	case l.Info.generated():
		return "generated"
	}
	return "embedded"
}

// Locate returns where [Open] would read a data set: the first of o.Dir, $NODEMASK_DATA and the cache folder that
// holds any of the data set's files, directly or in a subfolder named after the data set or "planetoid". For embedded
// data sets only o.Dir is searched before the embedded copy: files elsewhere may order nodes differently (as
// Planetoid's do for Cora), which would change every split. The error is a [*NameError] for an unknown name, a
// [*NotFoundError] for a data set that must be fetched.
func Locate(name string, o OpenOptions) (Location, error) {
	info, err := lookup(name)
	if err != nil {
		if _, missing := os.Stat(name); missing == nil {
			return Location{Info: Info{Name: name}, Path: name}, nil
		}
		if path, choice, err := chosen(name); path != "" || err != nil {
			return Location{Info: Info{Name: name}, Path: path, choice: choice}, err
		}
		if strings.ContainsRune(name, filepath.Separator) || single[extension(name)] != nil {
			return Location{}, &NotFoundError{Name: name, File: filepath.Base(name), Folders: []string{filepath.Dir(name)}}
		}
		return Location{}, err
	}
	if info.generated() {
		return Location{Info: info}, nil
	}
	var choice graphfile.Choice
	if _, text, found := strings.Cut(name, ":"); found {
		if choice, err = choices(name, text, ".npz"); err != nil {
			return Location{}, err
		}
	}
	folders := o.folders()
	if info.Embedded {
		folders = slices.DeleteFunc([]string{o.Dir}, func(dir string) bool { return dir == "" })
	}
	for _, folder := range folders {
		for _, dir := range []string{folder, filepath.Join(folder, info.Name), filepath.Join(folder, "planetoid")} {
			if holdsAny(dir, info.Files) {
				return Location{Info: info, Dir: dir, choice: choice}, nil
			}
		}
	}
	if info.Embedded {
		return Location{Info: info}, nil
	}
	return Location{}, &NotFoundError{Name: info.Name, File: info.Files[0].Name, Folders: folders, Fetch: true}
}

// chosen splits a name like "graph.pt:label=club,mask=3" into a path and a choice. The path is "" if no such file or
// folder exists.
func chosen(name string) (path string, c graphfile.Choice, err error) {
	at := strings.LastIndexByte(name, ':')
	if at < 0 {
		return "", c, nil
	}
	path = name[:at]
	if info, err := os.Stat(path); err != nil {
		return "", c, nil
	} else if format := extension(path); !info.IsDir() && (single[format] == nil) {
		return "", c, &NameError{Name: name, Problem: "nothing can be chosen in this format: leave out " + name[at:]}
	}
	c, err = choices(name, name[at+1:], extension(path))
	if err != nil {
		path = ""
	}
	return path, c, err
}

func choices(name, text, format string) (c graphfile.Choice, err error) {
	for choice := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(choice, "=")
		switch {
		case key == "label" && value != "":
			c.Label = value
		case key == "mask":
			c.Mask, err = strconv.Atoi(value)
			if err != nil || c.Mask < 0 || !slices.Contains([]string{".pt", ".pth", ".npz", ".json"}, format) {
				return c, &NameError{Name: name, Problem: "expected mask=k of a .pt, .npz or .json file, with columns from 0 on"}
			}
			c.Mask++
		default:
			return c, &NameError{Name: name, Problem: fmt.Sprintf("%.40q: expected label=NAME or mask=k behind the path",
				choice)}
		}
	}
	return c, nil
}

// holdsAny needs one file only: reading the data set reports missing files.
func holdsAny(dir string, files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		_, err := os.Stat(filepath.Join(dir, f.Name))
		return err == nil
	})
}

// Open returns a data set by its name in [Catalogue] (generated ones may carry parameters:
// "sbm:nodes=1000,classes=5,degree=8,seed=1"), or the graph at a path:
//
//	.npz                          the gnn-benchmark collection's layout, see below
//	.graphml                      GraphML, as NetworkX writes it
//	.json                         NetworkX's node-link JSON
//	.pt                           PyTorch Geometric's Data, (data, slices) or a dictionary, saved by torch.save;
//	                              no code in the file is run
//	nodes.csv and edges.csv       in a folder, see below
//	raw/edge.csv.gz and others    in a folder, the Open Graph Benchmark's layout for node property prediction
//
// After a path, ":label=club" chooses the column, attribute or field of classes; ":mask=3" chooses a mask column,
// counted from 0, of a .pt, .npz or .json file.
//
// Graphs at a path become undirected: pairs may be listed in either direction or both. [Graph].Report counts dropped
// repeats and self-loops; [Graph].Notes list other omissions. Features are sparse if at most a quarter is nonzero.
// Classes are sorted by value if all are numbers, else naturally: "class 2" before "class 10".
//
// Names in the catalogue win over paths: write ./cora for a folder called cora. [Locate] describes the search and its
// errors. It is an error if a data set's numbers of nodes, edges, features or classes are not the catalogue's.
//
// # CSV
//
// Two comma-separated files in UTF-8, each with a header line:
//
//	nodes.csv   id,label,anything,…   one line per node; every further column of finite numbers is a feature
//	edges.csv   source,target         one line per pair of ids; further columns are left out
//
// Nodes keep the order of lines. docs/FORMATS.md says which columns and attributes of CSV, GraphML and JSON are the
// class, the graph's own split or features, and what is left out.
//
// # npz
//
//	adj_indptr, adj_indices                            edges, as scipy's compressed sparse rows [nodes, nodes]
//	attr_indptr, attr_indices, attr_data, attr_shape   features, sparse [nodes, width]; or
//	attr_matrix                                        features, dense [nodes, width]
//	labels                                             [nodes] numbers or text
//	node_names, class_names, attr_names                text, optional
//	train_mask, val_mask, test_mask                    [nodes] or [nodes, splits], the graph's own splits
//
// The heterophilous benchmark has instead edges [edges, 2], node_features [nodes, width], node_labels [nodes], and
// train_masks, val_masks and test_masks [splits, nodes].
//
// Weights (adj_data) are left out, but an entry of 0 is no edge. Python objects are never unpickled: names stored as
// objects are left out; other arrays of objects are errors. Errors name file and place.
func Open(ctx context.Context, name string, o OpenOptions) (*Graph, error) {
	at, err := Locate(name, o)
	if err != nil {
		return nil, err
	}
	g, err := openAt(ctx, name, at)
	if err != nil {
		return nil, err
	}
	if err := at.Info.check(g); err != nil {
		return nil, err
	}
	return g, nil
}

func openAt(ctx context.Context, name string, at Location) (*Graph, error) {
	if err := ended.Err(ctx); err != nil {
		return nil, err
	}
	switch {
	case at.Path != "":
		return openPath(graphfile.WithChoice(ctx, at.choice), at.Path)
	case at.Info.generated():
		o, err := sbmOptions(name)
		if err != nil {
			return nil, err
		}
		return SBM(ctx, o)
	case at.Dir == "":
		return readEmbedded(at.Info.Name)
	case at.Info.Kind == "citations":
		return readPlanetoid(ctx, folder(at.Dir), at.Info.Name, at.Dir)
	}
	var files []*graphfile.File
	for _, file := range at.Info.Files {
		f, err := folder(at.Dir)(file.Name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files = append(files, f)
	}
	l, err := formats.NPZ(graphfile.WithChoice(ctx, at.choice), files...)
	if err != nil {
		return nil, err
	}
	source := at.Dir
	if len(files) == 1 {
		source = files[0].Name
	}
	return fromFile(l, at.Info.Name, source)
}

// ReadMemory returns a graph from files held as bytes, keyed by file name (upper and lower case are the same): one
// .npz, .graphml, .json or .pt file; nodes.csv and edges.csv (see [Open]); Planetoid's files (ind.NAME.tx, .ty, .allx,
// .ally, .graph, .test.index); or an edge list (.txt, .tsv, .csv, .edges) with two ids per line, for a graph without
// features and classes. A graph of one file gets the file's name. A graph of nodes.csv and edges.csv is named by the
// parameter name.
func ReadMemory(ctx context.Context, name string, files map[string][]byte) (*Graph, error) {
	names := slices.Sorted(maps.Keys(files))
	by := map[string]string{}
	for _, file := range names {
		by[strings.ToLower(file)] = file
	}
	open := func(file string) (*graphfile.File, error) {
		content, ok := files[cmp.Or(by[file], file)]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
		}
		return graphfile.Bytes(cmp.Or(by[file], file), content), nil
	}
	_, hasNodes := by[csvNodesFile]
	_, hasEdges := by[csvEdgesFile]
	switch {
	case len(names) == 1 && single[extension(names[0])] != nil && !hasNodes && !hasEdges:
		return readSingle(ctx, graphfile.Bytes(names[0], files[names[0]]))
	case planetoidName(files) != "":
		return readPlanetoid(ctx, open, planetoidName(files), "ind."+planetoidName(files)+".*")
	case hasNodes && hasEdges && len(names) == 2:
		g, err := readCSV(ctx, open, by[csvNodesFile]+", "+by[csvEdgesFile])
		if err != nil {
			return nil, err
		}
		g.Name = name
		return g, nil
	}
	return nil, fmt.Errorf("found %.80q: expected one .npz, .graphml, .json or .pt file, %s and %s together, or a list "+
		"of edges (.txt, .tsv, .csv, .edges, .edgelist)", names, csvNodesFile, csvEdgesFile)
}

func (i Info) check(g *Graph) error {
	for _, c := range []struct {
		what            string
		found, expected int64
	}{
		{"nodes", int64(g.NumNodes()), int64(i.Nodes)},
		{"edges", g.Edges.NumEdges() / 2, i.Edges},
		{"features", int64(g.Features.Width), int64(i.Features)},
		{"classes", int64(g.NumClasses()), int64(i.Classes)},
	} {
		if c.expected != 0 && c.found != c.expected {
			return fmt.Errorf("%s (%s): %d %s: expected %d. These are not the files of this data set: fetch it again",
				i.Name, g.Source, c.found, c.what, c.expected)
		}
	}
	return nil
}
