package graphfile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/numpy"
)

const (
	maxAttributes = 1 << 17
	maxTexts      = 32   // an attribute with more distinct texts is not suggested as the class
	maxName       = 4096 // limit of an id, a class or an attribute name, in bytes
)

// Builder makes a graph. Nodes with attributes, and edges between node ids, may be added in any order. The attribute
// "class", "label" or "y" is the class; "train_mask", "val_mask" and "test_mask" are the file's own split. Numeric
// attributes are features if [MeaningOf] their name is [Feature]; nodes that lack such an attribute get 0. All other
// attributes are left out.
type Builder struct {
	// Attribute is the format's word for an attribute, such as "GraphML key".
	Attribute string

	in      *File
	g       Graph
	index   map[string]int32 // position of each id in ids
	ids     []string
	numbers []int32    // numbers[i] is the node with the id ids[i], or -1 while that id has occurred only in edges
	pairs   []csr.Edge // edges between positions in ids
	names   map[string]int32
	columns []attribute
	row     []entry
	entries []entry
	offsets []int64  // [nodes+1]: the entries of node v begin at offsets[v]
	classes []string // attributes that may be the class
	class   []classColumn
	chosen  string
	split   int
	taken   string
	masks   [3][][]int32 // [train, validation or test][split]: node indices
	found   int
}

type attribute struct {
	name  string
	nodes int             // number of nodes at which this attribute is numeric
	other string          // type of the first value that is no number, if any
	last  int             // index of the last node with this attribute, counted from 1
	texts map[string]bool // distinct texts of this attribute; collecting stops at maxTexts+1
}

type entry struct {
	column int32
	value  float32
}

type classColumn struct {
	index  Classes
	labels []int32
}

// NewBuilder returns a builder whose memory counts against in.Budget.
func NewBuilder(ctx context.Context, in *File, format, attribute string) *Builder {
	choice := ChoiceOf(ctx)
	b := &Builder{in: in, Attribute: attribute, index: map[string]int32{}, names: map[string]int32{},
		offsets: []int64{0}, chosen: choice.Label, split: choice.Mask, classes: LabelColumns(ctx)}
	b.class = make([]classColumn, len(b.classes))
	b.g.Format = format
	return b
}

// Notef adds a note about the file.
func (b *Builder) Notef(format string, args ...any) { b.g.Notef(format, args...) }

// Directed makes the graph directed if directed is true.
func (b *Builder) Directed(directed bool) { b.g.Directed = b.g.Directed || directed }

// String gives the next node a text attribute, perhaps its class.
func (b *Builder) String(name, value string) error {
	if isClass, err := b.addClass(name, strings.TrimSpace(value)); isClass || err != nil {
		return err
	}
	if MeaningOf(name).Set() >= 0 {
		in, err := parseMask(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("%s %.80q: %w", b.Attribute, name, err)
		}
		return b.Truth(name, in)
	}
	if err := b.Other(name, "string"); err != nil {
		return err
	}
	if a := &b.columns[b.names[name]]; len(a.texts) <= maxTexts && len(value) <= 64 && !a.texts[value] {
		if a.texts == nil {
			a.texts = map[string]bool{}
		}
		a.texts[strings.Clone(value)] = true
		return b.in.Take(128)
	}
	return nil
}

// Null gives the next node a null attribute. If the attribute is the class, the node is unlabelled.
func (b *Builder) Null(name string) error {
	_, err := b.addClass(name, "null")
	return err
}

// Truth gives the next node a boolean attribute, as 1 or 0.
func (b *Builder) Truth(name string, value bool) error {
	if value {
		return b.Number(name, 1, "1")
	}
	return b.Number(name, 0, "0")
}

// Other records that the next node has an attribute whose value the graph does not keep. The parameter kind names the
// value's type.
func (b *Builder) Other(name, kind string) error {
	a, err := b.attribute(name)
	if err == nil && a.other == "" {
		a.other = kind
	}
	return err
}

// Number gives the next node a numeric attribute. The parameter text is the exact number; value may be rounded.
func (b *Builder) Number(name string, value float64, text string) error {
	class, _ := numberName(text)
	if isClass, err := b.addClass(name, class); isClass || err != nil {
		return err
	}
	meaning := MeaningOf(name)
	if set := meaning.Set(); set >= 0 {
		return b.mark(set, name, value)
	}
	a, err := b.attribute(name)
	if err != nil || meaning != Feature {
		return err
	}
	x, err := Float32(value)
	if err != nil {
		return fmt.Errorf("%s %.80q: %w", b.Attribute, name, err)
	}
	a.nodes++
	b.row = append(b.row, entry{b.names[name], x})
	return nil
}

// mark adds the next node to set 0 (train), 1 (validation) or 2 (test), unless value is 0. If the file has several
// splits, the name "train_mask[2]" belongs to split 2.
func (b *Builder) mark(set int, name string, value float64) error {
	k := 0
	if _, number, is := strings.Cut(strings.TrimSuffix(name, "]"), "["); is {
		k, _ = strconv.Atoi(number)
	}
	if k < 0 || k >= maxSplits {
		return fmt.Errorf("%s %.80q: expected at most %d splits", b.Attribute, name, maxSplits)
	}
	if value != math.Trunc(value) {
		return fmt.Errorf("%s %.80q: found %v: expected true or false", b.Attribute, name, value)
	}
	for len(b.masks[set]) <= k {
		b.masks[set] = append(b.masks[set], nil)
	}
	if value == 0 {
		return nil
	}
	in, node := &b.masks[set][k], int32(len(b.offsets)-1)
	if n := len(*in); n > 0 && (*in)[n-1] == node {
		return fmt.Errorf("%s %.80q is there twice at one node", b.Attribute, name)
	}
	*in = append(*in, node)
	return b.in.Take(8)
}

func (b *Builder) setSplits() error {
	var masks [3]*numpy.Array
	for set, splits := range b.masks {
		if splits == nil {
			continue
		}
		nodes, columns := int64(b.g.Nodes), int64(len(splits))
		if err := b.in.Take(nodes * columns); err != nil {
			return err
		}
		marks := make([]byte, nodes*columns)
		for k, in := range splits {
			for _, v := range in {
				marks[int64(v)*columns+int64(k)] = 1
			}
		}
		name := fmt.Sprintf("%s %q", b.Attribute, namesOf[TrainMask+Meaning(set)][0])
		masks[set], _ = numpy.New(name, numpy.Dtype{Kind: 'b', Size: 1}, []int64{nodes, columns}, false, marks)
	}
	return b.g.SetMasks(masks, b.split)
}

func (b *Builder) addClass(name, value string) (bool, error) {
	i := slices.IndexFunc(b.classes, func(c string) bool { return strings.EqualFold(c, name) })
	if i < 0 {
		return false, nil
	}
	switch {
	case len(value) > maxName:
		return true, fmt.Errorf("%s %q: a class of %d bytes: expected at most %d", b.Attribute, name, len(value), maxName)
	case b.found&(1<<i) != 0:
		return true, fmt.Errorf("%s %q is there twice at one node", b.Attribute, name)
	}
	b.found |= 1 << i
	c := &b.class[i]
	if label := c.index.Add(value); label != Unlabelled {
		c.labels = append(unlabelledUpTo(c.labels, len(b.offsets)-1), label)
	}
	return true, nil
}

func unlabelledUpTo(labels []int32, nodes int) []int32 {
	for len(labels) < nodes {
		labels = append(labels, Unlabelled)
	}
	return labels
}

func (b *Builder) attribute(name string) (*attribute, error) {
	i, ok := b.names[name]
	if !ok {
		if len(name) > maxName {
			return nil, fmt.Errorf("the name of a %s has %d bytes: expected at most %d", b.Attribute, len(name), maxName)
		}
		if len(b.columns) == maxAttributes {
			return nil, fmt.Errorf("more than %d different attributes of nodes", maxAttributes)
		}
		i = int32(len(b.columns))
		if err := b.in.Take(128 + int64(len(name))); err != nil {
			return nil, err
		}
		b.columns = append(b.columns, attribute{name: name})
		b.names[name] = i
	}
	a := &b.columns[i]
	if a.last == len(b.offsets) {
		return nil, fmt.Errorf("%s %.80q is there twice at one node", b.Attribute, name)
	}
	a.last = len(b.offsets)
	return a, nil
}

// Node adds a node with this id and the attributes given since the last node.
func (b *Builder) Node(id string) error {
	v, err := b.number(id)
	if err != nil {
		return err
	}
	if b.numbers[v] >= 0 {
		return fmt.Errorf("the id %.80q is there already (node %d, counted from 0): ids must differ", id, b.numbers[v])
	}
	if err := b.in.Take(64 + 16*int64(len(b.row))); err != nil {
		return err
	}
	node := len(b.offsets) - 1
	b.numbers[v] = int32(node)
	slices.SortFunc(b.row, func(x, y entry) int { return cmp.Compare(x.column, y.column) })
	b.entries = append(b.entries, b.row...)
	b.offsets = append(b.offsets, int64(len(b.entries)))
	b.row, b.found = b.row[:0], 0
	return nil
}

func (b *Builder) number(id string) (int32, error) {
	if v, ok := b.index[id]; ok {
		return v, nil
	}
	switch {
	case id == "":
		return 0, fmt.Errorf("the id is empty: every node needs one")
	case len(id) > maxName:
		return 0, fmt.Errorf("an id of %d bytes: expected at most %d", len(id), maxName)
	case len(b.ids) >= MaxNodes:
		return 0, fmt.Errorf("more than %d nodes", MaxNodes)
	}
	if err := b.in.Take(96 + int64(len(id))); err != nil {
		return 0, err
	}
	v := int32(len(b.ids))
	id = strings.Clone(id)
	b.ids, b.numbers = append(b.ids, id), append(b.numbers, -1)
	b.index[id] = v
	return v, nil
}

// Edge adds an edge; its nodes may be added later.
func (b *Builder) Edge(source, target string) error {
	v, err := b.number(source)
	if err != nil {
		return err
	}
	u, err := b.number(target)
	if err == nil {
		err = b.in.Take(16)
	}
	b.pairs = append(b.pairs, csr.Edge{Node: v, Neighbour: u})
	return err
}

// Finish returns the graph.
func (b *Builder) Finish() (*Graph, error) {
	g := &b.g
	g.Nodes = len(b.offsets) - 1
	if g.Nodes == 0 {
		return nil, fmt.Errorf("no nodes: expected at least one")
	}
	g.IDs = make([]string, g.Nodes)
	for i, v := range b.numbers {
		if v < 0 {
			return nil, fmt.Errorf("an edge names node %.80q, which the file does not have: add it, or remove the edge",
				b.ids[i])
		}
		g.IDs[v] = b.ids[i]
	}
	for i, e := range b.pairs {
		b.pairs[i] = csr.Edge{Node: b.numbers[e.Node], Neighbour: b.numbers[e.Neighbour]}
	}
	g.Pairs = List(b.pairs)
	b.chooseClass()
	if b.chosen != "" && g.Labels == nil {
		return nil, fmt.Errorf("no node has %s %q: expected the classes there", b.Attribute, b.chosen)
	}
	b.setFeatures()
	return g, b.setSplits()
}

func (b *Builder) chooseClass() {
	g := &b.g
	for i := range b.class {
		c := &b.class[i]
		switch {
		case c.labels == nil:
		case g.Labels != nil:
			g.Notef("%s", Class.LeftOut(fmt.Sprintf("%s %q", b.Attribute, b.classes[i]), b.taken))
		default:
			b.taken = b.classes[i]
			g.SetLabels(&c.index, unlabelledUpTo(c.labels, g.Nodes))
		}
	}
}

func (b *Builder) setFeatures() {
	g := &b.g
	columns := make([]int32, len(b.columns)) // feature column of each attribute; -1: no feature
	f := Features{Rows: g.Nodes, Offsets: make([]int64, g.Nodes+1)}
	for i, a := range b.columns {
		columns[i] = -1
		what := fmt.Sprintf("%s %.80q", b.Attribute, a.name)
		switch meaning := MeaningOf(a.name); {
		case meaning != Feature:
			g.Notef("%s", meaning.LeftOut(what, b.taken))
		case a.other != "":
			note := fmt.Sprintf("%s of type %s: left out", what, a.other)
			if n := len(a.texts); g.Labels == nil && n > 1 && n <= maxTexts && n < g.Nodes {
				note += fmt.Sprintf(". It has %d different texts: PATH:label=%.80s makes it the class", n, a.name)
			}
			g.Notef("%s", note)
		case a.nodes > 0:
			columns[i] = int32(f.Width)
			f.Width++
			g.FeatureNames = append(g.FeatureNames, a.name)
			if a.nodes < g.Nodes {
				g.Notef("%s: %d of %d nodes lack it: 0 there", what, g.Nodes-a.nodes, g.Nodes)
			}
		}
	}
	without := 0
	for v := range g.Nodes {
		any := false
		for _, e := range b.entries[b.offsets[v]:b.offsets[v+1]] {
			if c := columns[e.column]; c >= 0 {
				any = true
				if e.value != 0 {
					f.Columns, f.Values = append(f.Columns, c), append(f.Values, e.value)
				}
			}
		}
		f.Offsets[v+1] = int64(len(f.Values))
		if !any {
			without++
		}
	}
	g.Features = f
	if without > 0 && f.Width > 0 {
		g.Notef("%d of %d nodes have no features: zeros there", without, g.Nodes)
	}
}
