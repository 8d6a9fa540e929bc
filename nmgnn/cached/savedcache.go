// Package cached predicts new nodes from cached representations of the train nodes (section 4, eq. 4 of the paper,
// arXiv 2001.07524). A new node reads the representations that its train neighbours have in the train graph. New nodes
// that arrive together also read one another:
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v in the train graph }
//		∪ { ĥ_w^(k-1) : w ∈ N_v that arrives with v }) )
//
// Here g aggregates neighbours, f updates the node, and ĥ is a new node's representation. A train node's cached
// representation is h̃; h̃^(0) and ĥ^(0) are features. Train nodes never read new nodes. Where f or g divides by
// degrees, the degree of a train node counts only train neighbours; the degree of a new node counts all its neighbours.
// For a single arrival this is eq. 4. The paper does not discuss edges among new nodes; [datasets.Newcomers.Apart]
// omits them.
package cached

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"nodemask/datasets"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/safetensors"
)

const withinModel = "cache."

func (c *Cache) put(file *safetensors.Builder) error {
	if c == nil {
		return errors.New("the cache is nil: an experiment keeps one if its Keep is set")
	}
	nodes := len(c.IDs)
	ends, text := make([]int64, 1, nodes+1), []byte{}
	for i, id := range c.IDs {
		if !utf8.ValidString(id) {
			return fmt.Errorf("the id of node %d is %.40q: expected UTF-8", i, id)
		}
		text = append(text, id...)
		ends = append(ends, int64(len(text)))
	}
	safetensors.Add(file, withinModel+"ids.offsets", ends, nodes+1)
	safetensors.Add(file, withinModel+"ids.text", text, len(text))
	safetensors.Add(file, withinModel+"degrees", c.Degrees, nodes)
	if f := c.Features; f.IsSparse() {
		safetensors.Add(file, withinModel+"features.offsets", f.Offsets, nodes+1)
		safetensors.Add(file, withinModel+"features.columns", f.Columns, len(f.Columns))
		safetensors.Add(file, withinModel+"features.values", f.Values, len(f.Columns))
	} else {
		safetensors.Add(file, withinModel+"features", f.Dense, nodes, f.Width)
	}
	for i, h := range c.Hidden {
		safetensors.Add(file, hiddenName(i), h.Values, nodes, h.Width)
	}
	return nil
}

func hiddenName(i int) string { return fmt.Sprintf("%shidden%d", withinModel, i+1) }

// LoadCache returns the model's cache from a file that [Model.SaveWith] wrote. Where files can be memory-mapped,
// features and representations stay on disk, so a cache may be larger than memory; only ids are kept in memory, some 80
// bytes a node.
//
// It reads the whole file to verify checksums and values.
//
// While using the cache do not modify the file in place; saving over it is safe. Close the cache after use.
func LoadCache(path string, m *Model) (c *Cache, err error) {
	if m == nil {
		return nil, errors.New("the model is nil: read the cache's own with LoadModel")
	}
	file, err := safetensors.Open(path, modelKind)
	if err != nil {
		return nil, err
	}
	err = safetensors.Guard(path, func() error {
		c, err = readCache(file, path, m)
		return err
	})
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return c, nil
}

func readCache(file *safetensors.File, path string, m *Model) (*Cache, error) {
	if !file.Has(withinModel + "degrees") {
		return nil, fmt.Errorf("%s: a model without its cache: save both from one training run", path)
	}
	of, err := file.Metadata(fingerprintKey)
	if err != nil {
		return nil, err
	}
	if own := m.Fingerprint(); of != own {
		return nil, fmt.Errorf("%s: the cache of model %.20s, not of this one (%s): save both from one training run", path, of,
			own)
	}
	c := &Cache{file: file, path: path}
	if c.IDs, err = readIDs(file, path); err != nil {
		return nil, err
	}
	nodes := len(c.IDs)
	if c.Degrees, _, err = safetensors.Get[int32](file, withinModel+"degrees", nodes); err != nil {
		return nil, err
	}
	c.Features = datasets.Features{Rows: nodes, Width: m.Features}
	if !file.Has(withinModel + "features.offsets") {
		c.Features.Dense, _, err = safetensors.Get[float32](file, withinModel+"features", nodes, m.Features)
	} else if c.Features.Offsets, _, err = safetensors.Get[int64](file, withinModel+"features.offsets",
		nodes+1); err == nil {
		if c.Features.Columns, _, err = safetensors.Get[int32](file, withinModel+"features.columns",
			safetensors.Any); err == nil {
			c.Features.Values, _, err = safetensors.Get[float32](file, withinModel+"features.values", len(c.Features.Columns))
		}
	}
	if err != nil {
		return nil, err
	}
	for i := 0; file.Has(hiddenName(i)); i++ {
		values, shape, err := safetensors.Get[float32](file, hiddenName(i), nodes, safetensors.Any)
		if err != nil {
			return nil, err
		}
		c.Hidden = append(c.Hidden, infer.Representation{Rows: nodes, Width: shape[1], Values: values})
	}
	// Dense features need no check: opening the file checked that they are finite.
	err = c.checkDegrees()
	if err == nil && c.Features.IsSparse() {
		err = c.Features.Check()
	}
	if err := cmp.Or(err, c.fits(m)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readIDs copies the ids, since they are used after the file is unmapped.
func readIDs(file *safetensors.File, path string) ([]string, error) {
	ends, _, err := safetensors.Get[int64](file, withinModel+"ids.offsets", safetensors.Any)
	if err != nil {
		return nil, err
	}
	raw, _, err := safetensors.Get[uint8](file, withinModel+"ids.text", safetensors.Any)
	if err != nil {
		return nil, err
	}
	if len(ends) == 0 || len(ends)-1 > math.MaxInt32 || ends[0] != 0 || ends[len(ends)-1] != int64(len(raw)) {
		return nil, fmt.Errorf("%s: tensor \"cache.ids.offsets\" has %d numbers for %d bytes of ids: expected one more than "+
			"nodes, from 0 to %d", path, len(ends), len(raw), len(raw))
	}
	text := string(raw)
	ids := make([]string, len(ends)-1)
	for i := range ids {
		if ends[i+1] < ends[i] || ends[i+1] > int64(len(text)) {
			return nil, fmt.Errorf("%s: tensor \"cache.ids.offsets\": the id of node %d runs from %d to %d: expected %d to %d", path,
				i, ends[i], ends[i+1], ends[i], len(text))
		}
		if ids[i] = text[ends[i]:ends[i+1]]; !utf8.ValidString(ids[i]) {
			return nil, fmt.Errorf("%s: tensor \"cache.ids.text\": the id of node %d is %.40q: expected UTF-8", path, i, ids[i])
		}
	}
	return ids, nil
}

func (c *Cache) checkDegrees() error {
	if v := slices.IndexFunc(c.Degrees, func(degree int32) bool { return degree < 0 }); v >= 0 {
		return fmt.Errorf("node %d has degree %d: expected 0 or more", v, c.Degrees[v])
	}
	return nil
}

func (c *Cache) fits(m *Model) error {
	if c.Features.Width != m.Features || len(c.Hidden) != m.layers()-1 {
		return fmt.Errorf("a cache of %d features and %d hidden layers for a model with %d and %d", c.Features.Width,
			len(c.Hidden), m.Features, m.layers()-1)
	}
	nodes := len(c.IDs)
	if len(c.Degrees) != nodes || c.Features.Rows != nodes {
		return fmt.Errorf("a cache of %d ids, %d degrees and %d rows of features: expected as many of each", nodes,
			len(c.Degrees), c.Features.Rows)
	}
	for i, h := range c.Hidden {
		width := m.Settings.Hidden
		if m.Own != nil { // a custom model's layers are checked when the model runs
			width = h.Width
		}
		if h.Width != width || h.Rows != nodes {
			return fmt.Errorf("hidden layer %d of the cache is of shape [%d, %d]: expected [%d, %d]", i+1, h.Rows, h.Width,
				nodes, width)
		}
	}
	return nil
}

// Close unmaps and empties a cache from [LoadCache]; do not read it afterwards. A cache from [New] needs no Close.
func (c *Cache) Close() error {
	file := c.file
	*c = Cache{}
	if file == nil {
		return nil
	}
	return file.Close()
}

// Cache holds the train nodes' data that new nodes read. Do not change a cache from [LoadCache]: it may be
// memory-mapped.
type Cache struct {
	IDs      []string
	Features datasets.Features      // normalized if the model normalizes features
	Hidden   []infer.Representation // each hidden layer's output [train nodes, width]
	Degrees  []int32                // each node's number of neighbours in the train graph

	file *safetensors.File // nil if the cache is in memory
	path string
}

// New returns the cache of the train nodes' hidden representations and features. Features must be normalized if the
// model normalizes them.
func New(g *datasets.Graph, train datasets.Phase, features datasets.Features, hidden []infer.Representation) *Cache {
	nodes := len(train.Nodes)
	c := &Cache{Hidden: hidden, Features: features, Degrees: make([]int32, nodes), IDs: make([]string, nodes)}
	for i, v := range train.Nodes {
		c.Degrees[i] = int32(train.Edges.Degree(int32(i)))
		if c.IDs[i] = fmt.Sprint(v); len(g.NodeIDs) > 0 {
			c.IDs[i] = g.NodeIDs[v]
		}
	}
	return c
}
