package cached

import (
	"encoding/json"
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/container"
)

// Convert reads a model or a cache that nodemask 0.3 or older saved, and writes it as safetensors; it returns "model"
// or "cache". A model and its cache still belong together when both are converted, in any order.
func Convert(from, to string) (kind string, err error) {
	old, err := container.Read(from)
	if err != nil {
		return "", err
	}
	if old.Kind == modelKind.Name {
		m, err := oldModel(old, from)
		if err != nil {
			return "", err
		}
		return old.Kind, m.Save(to)
	}
	c, fingerprint, err := oldCache(old, from)
	if err != nil {
		return "", err
	}
	return old.Kind, c.save(to, fingerprint)
}

// oldModel is the model in a container.
func oldModel(file *container.File, path string) (*Model, error) {
	var header struct {
		Model
		Weights []struct {
			Path       string `json:"path"`
			Dimensions []int  `json:"dimensions"`
		} `json:"weights"`
	}
	if err := json.Unmarshal(file.Meta, &header); err != nil {
		return nil, fmt.Errorf("%s: the description of the model cannot be read: %.120w", path, err)
	}
	m := &header.Model
	for _, w := range header.Weights {
		values, err := file.Floats(w.Path)
		if err != nil {
			return nil, err
		}
		if !has(w.Dimensions, len(values)) {
			return nil, fmt.Errorf("%s: weights %.60q of dimensions %v: the file has %d numbers", path, w.Path, w.Dimensions,
				len(values))
		}
		m.Weights = append(m.Weights, infer.Weight{Path: w.Path, Dimensions: w.Dimensions, Values: values})
	}
	return m, m.check(path)
}

// has reports whether so many numbers are a tensor of those dimensions, none of which is empty.
func has(dimensions []int, numbers int) bool {
	size := 1
	for _, d := range dimensions {
		if d < 1 || size > math.MaxInt32/d {
			return false
		}
		size *= d
	}
	return size == numbers
}

// oldCache is the cache in a container, and the fingerprint of its model.
func oldCache(file *container.File, path string) (c *Cache, fingerprint string, err error) {
	var header struct {
		Model    string `json:"model"`
		Nodes    int    `json:"nodes"`
		Features int    `json:"features"`
		Sparse   bool   `json:"sparse"`
		Widths   []int  `json:"widths"` // of h̃^(1)…h̃^(k-1)
	}
	if err := json.Unmarshal(file.Meta, &header); err != nil {
		return nil, "", fmt.Errorf("%s: the description of the cache cannot be read: %.120w", path, err)
	}
	c = &Cache{Features: datasets.Features{Rows: header.Nodes, Width: header.Features}}
	if c.IDs, err = file.Strings("ids"); err != nil {
		return nil, "", err
	}
	if c.Degrees, err = file.Ints("degrees"); err != nil {
		return nil, "", err
	}
	if len(c.IDs) != header.Nodes || len(c.Degrees) != header.Nodes {
		return nil, "", fmt.Errorf("%s: %d ids and %d degrees: expected %d of each", path, len(c.IDs), len(c.Degrees),
			header.Nodes)
	}
	if !header.Sparse {
		c.Features.Dense, err = file.Floats("features")
	} else if c.Features.Offsets, err = file.Longs("offsets"); err == nil {
		if c.Features.Columns, err = file.Ints("columns"); err == nil {
			c.Features.Values, err = file.Floats("values")
		}
	}
	if err == nil {
		err = c.Features.Check()
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	for i, width := range header.Widths {
		h := infer.Representation{Rows: header.Nodes, Width: width}
		if h.Values, err = file.Floats(hiddenName(i)); err != nil {
			return nil, "", err
		}
		if header.Nodes > 0 && !has([]int{header.Nodes, width}, len(h.Values)) {
			return nil, "", fmt.Errorf("%s: hidden layer %d has %d numbers: expected %d rows of %d", path, i+1, len(h.Values),
				header.Nodes, width)
		}
		c.Hidden = append(c.Hidden, h)
	}
	return c, header.Model, nil
}
