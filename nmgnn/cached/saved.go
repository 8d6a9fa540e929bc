package cached

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
)

// Model is a trained model as a file keeps it, with all that predicting needs.
type Model struct {
	Settings hyper.Parameters `json:"settings"`
	Classes  []string         `json:"classes"`  // names, by number
	Features int              `json:"features"` // numbers a node
	Data     string           `json:"data"`     // what it was trained on
	Seed     uint64           `json:"seed"`
	// Weights by path, as training left them at the best epoch.
	Weights []infer.Weight `json:"-"`
}

// Fingerprint returns a hash that tells models apart: a cache belongs to the one model that filled it.
func (m *Model) Fingerprint() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(m) // a hash takes everything
	for _, w := range m.Weights {
		fmt.Fprintf(h, "%s %v\n", w.Path, w.Dimensions)
		_ = binary.Write(h, binary.LittleEndian, w.Values)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// savedWeight is a weight in a file's header; its values are a section of that name.
type savedWeight struct {
	Path       string `json:"path"`
	Dimensions []int  `json:"dimensions"`
}

// savedHeader is the header of a model's file.
type savedHeader struct {
	Model
	Weights []savedWeight `json:"weights"`
}

// Network returns the saved model as one that runs over any graph.
func (m *Model) Network() infer.Model {
	return infer.Model{Model: nmgnn.Build(m.Settings, len(m.Classes)), Weights: m.Weights, NormalizeFeatures: m.Settings.NormalizeFeatures}
}

// Save writes the model to a file, whole or not at all.
func (m *Model) Save(path string) error {
	header := savedHeader{Model: *m}
	for _, w := range m.Weights {
		header.Weights = append(header.Weights, savedWeight{w.Path, w.Dimensions})
	}
	c, err := newContainer(kindModel, header)
	if err != nil {
		return err
	}
	for _, w := range m.Weights {
		c.putFloats(w.Path, w.Values)
	}
	return c.writeFile(path)
}

// LoadModel reads a model that [Model.Save] wrote.
func LoadModel(path string) (*Model, error) {
	c, err := readContainer(path, kindModel)
	if err != nil {
		return nil, err
	}
	var header savedHeader
	if err := c.decodeMeta(&header); err != nil {
		return nil, err
	}
	m := &header.Model
	if err := m.Settings.Check(); err != nil {
		return nil, fmt.Errorf("%s: the settings in the file are invalid: %w", path, err)
	}
	if m.Features < 1 || len(m.Classes) < 1 {
		return nil, fmt.Errorf("%s: %d features and %d classes: expected at least one of each", path, m.Features, len(m.Classes))
	}
	for _, w := range header.Weights {
		size := 1
		for _, d := range w.Dimensions {
			if d < 1 || size > math.MaxInt32/d {
				return nil, fmt.Errorf("%s: weights %q of dimensions %v: expected each above 0, and 2³¹ numbers at most", path, w.Path, w.Dimensions)
			}
			size *= d
		}
		values, err := finiteFloats(path, c, w.Path)
		if err != nil {
			return nil, err
		}
		if len(values) != size {
			return nil, fmt.Errorf("%s: weights %q: %d numbers for dimensions %v", path, w.Path, len(values), w.Dimensions)
		}
		m.Weights = append(m.Weights, infer.Weight{Path: w.Path, Dimensions: w.Dimensions, Values: values})
	}
	return m, nil
}

// finiteFloats refuses what would turn every prediction into NaN.
func finiteFloats(path string, c *container, name string) ([]float32, error) {
	values, err := c.floats(name)
	for i, x := range values {
		if x-x != 0 {
			return nil, fmt.Errorf("%s: section %q: number %d is %v: expected a finite one", path, name, i, x)
		}
	}
	return values, err
}

// cacheHeader is the header of a cache's file.
type cacheHeader struct {
	Model    string `json:"model"` // fingerprint
	Nodes    int    `json:"nodes"`
	Features int    `json:"features"`
	Sparse   bool   `json:"sparse"`
	Widths   []int  `json:"widths"` // of h̃^(1)…h̃^(k-1)
}

// Save writes the cache of a model to a file, whole or not at all.
func (c *Cache) Save(path string, m *Model) error {
	header := cacheHeader{Model: m.Fingerprint(), Nodes: len(c.IDs), Features: c.Features.Width, Sparse: c.Features.IsSparse()}
	for _, h := range c.Hidden {
		header.Widths = append(header.Widths, h.Width)
	}
	file, err := newContainer(kindCache, header)
	if err != nil {
		return err
	}
	file.putStrings("ids", c.IDs)
	file.putInts("degrees", c.Degrees)
	if header.Sparse {
		file.putLongs("offsets", c.Features.Offsets)
		file.putInts("columns", c.Features.Columns)
		file.putFloats("values", c.Features.Values)
	} else {
		file.putFloats("features", c.Features.Dense)
	}
	for i, h := range c.Hidden {
		file.putFloats(fmt.Sprintf("hidden%d", i+1), h.Values)
	}
	return file.writeFile(path)
}

// LoadCache reads a cache that [Cache.Save] wrote for the model, in one read.
func LoadCache(path string, m *Model) (*Cache, error) {
	file, err := readContainer(path, kindCache)
	if err != nil {
		return nil, err
	}
	var header cacheHeader
	if err := file.decodeMeta(&header); err != nil {
		return nil, err
	}
	if own := m.Fingerprint(); header.Model != own {
		return nil, fmt.Errorf("%s: the cache of model %s, not of this one (%s): save both from the same training run", path, header.Model, own)
	}
	if header.Features != m.Features || len(header.Widths) != m.Settings.Layers-1 {
		return nil, fmt.Errorf("%s: %d features and %d hidden layers for a model with %d and %d", path, header.Features, len(header.Widths), m.Features, m.Settings.Layers-1)
	}
	c := &Cache{Features: datasets.Features{Rows: header.Nodes, Width: header.Features}}
	wrong := func(section string, got, want int) error {
		return fmt.Errorf("%s: section %q holds %d entries: expected %d for %d nodes", path, section, got, want, header.Nodes)
	}
	if c.IDs, err = file.strings("ids"); err != nil {
		return nil, err
	}
	if len(c.IDs) != header.Nodes {
		return nil, wrong("ids", len(c.IDs), header.Nodes)
	}
	if c.Degrees, err = file.ints("degrees"); err != nil {
		return nil, err
	}
	if len(c.Degrees) != header.Nodes {
		return nil, wrong("degrees", len(c.Degrees), header.Nodes)
	}
	if header.Sparse {
		if c.Features.Offsets, err = file.longs("offsets"); err != nil {
			return nil, err
		}
		if c.Features.Columns, err = file.ints("columns"); err != nil {
			return nil, err
		}
		if c.Features.Values, err = file.floats("values"); err != nil {
			return nil, err
		}
	} else if c.Features.Dense, err = file.floats("features"); err != nil {
		return nil, err
	}
	if err := c.Features.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, width := range header.Widths {
		name := fmt.Sprintf("hidden%d", i+1)
		h := infer.Representation{Rows: header.Nodes, Width: width}
		if h.Values, err = finiteFloats(path, file, name); err != nil {
			return nil, err
		}
		if width < 1 || width > math.MaxInt32 || len(h.Values) != header.Nodes*width {
			return nil, wrong(name, len(h.Values), header.Nodes*width)
		}
		c.Hidden = append(c.Hidden, h)
	}
	return c, nil
}
