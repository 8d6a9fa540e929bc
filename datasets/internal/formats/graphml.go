// Package formats reads graphs from GraphML, node-link JSON, torch.save and the Open Graph Benchmark. Readers return
// the context's error once the context ends.
package formats

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets/internal/graphfile"
)

const (
	maxKeys = 1 << 17
	// maxToken limits the bytes of a tag, text or number, because the decoder holds them in memory.
	maxToken = 16 << 20
)

// GraphML reads a file that NetworkX, igraph, Gephi or yEd wrote.
func GraphML(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) {
	limited := &graphfile.TokenReader{Ctx: ctx, R: graphfile.Text(in), Most: maxToken, What: "tag or text"}
	w := &graphML{limited: limited, decoder: xml.NewDecoder(limited), keys: map[string]*graphMLKey{},
		edgeKeys: map[string]int{},
		b:        graphfile.NewBuilder(ctx, in, "GraphML", "GraphML key")}
	w.decoder.CharsetReader = graphfile.Charset
	g, err := w.file()
	if err != nil {
		line, column := w.decoder.InputPos()
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			line, err = syntax.Line, fmt.Errorf("not XML: %s", syntax.Msg)
		}
		return nil, fmt.Errorf("%s: line %d, column %d: %w", in.Name, line, column, err)
	}
	return g, nil
}

type graphMLKey struct {
	name, kind string
	fallback   *string
	isNode     bool
}

type graphML struct {
	limited  *graphfile.TokenReader
	decoder  *xml.Decoder
	keys     map[string]*graphMLKey
	fallback []string // ids of GraphML node keys with a default value, in file order
	filled   int64
	edgeKeys map[string]int
	graphs   int
	b        *graphfile.Builder
}

func (w *graphML) token() (xml.Token, error) {
	for {
		if err := w.limited.Next(); err != nil {
			return nil, err
		}
		t, err := w.decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, w.limited.Nest(1)
		case xml.EndElement:
			return t, w.limited.Nest(-1)
		case xml.CharData:
			return t, nil
		}
	}
}

// each calls visit for every child of the open element; visit must read the child to its end.
func (w *graphML) each(visit func(xml.StartElement) error) error {
	for {
		t, err := w.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		case nil:
			return errors.New("the file ends too early: expected </graphml>")
		}
	}
}

func (w *graphML) text() (text string, nested bool, err error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		t, err := w.token()
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			nested = true
		case xml.EndElement:
			depth--
		case xml.CharData:
			if b.Len()+len(t) > maxToken {
				return "", false, fmt.Errorf("a text of more than %d MiB: expected less", maxToken>>20)
			}
			b.Write(t)
		case nil:
			return "", false, errors.New("the file ends too early: expected </graphml>")
		}
	}
	return b.String(), nested, nil
}

func (w *graphML) skip() error {
	_, _, err := w.text()
	return err
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (w *graphML) file() (*graphfile.Graph, error) {
	for root := false; ; {
		t, err := w.token()
		if err != nil {
			return nil, err
		}
		if t == nil {
			if !root {
				return nil, errors.New("no element: expected <graphml>")
			}
			break
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if root || e.Name.Local != "graphml" {
			return nil, fmt.Errorf("found <%.40s>: expected one <graphml>", e.Name.Local)
		}
		root = true
		err = w.each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "key":
				return w.key(e)
			case "graph":
				return w.graph(e)
			}
			return w.skip()
		})
		if err != nil {
			return nil, err
		}
	}
	if w.graphs == 0 {
		return nil, errors.New("no <graph>: expected one")
	}
	for _, id := range slices.Sorted(maps.Keys(w.edgeKeys)) {
		w.b.Notef("GraphML key %.80q of edges: left out", id)
	}
	return w.b.Finish()
}

func (w *graphML) key(e xml.StartElement) error {
	id := attribute(e, "id")
	if _, ok := w.keys[id]; ok {
		return fmt.Errorf("the key %.80q is declared twice", id)
	}
	if len(w.keys) == maxKeys {
		return fmt.Errorf("more than %d keys", maxKeys)
	}
	k := &graphMLKey{name: cmp.Or(attribute(e, "attr.name"), id), kind: attribute(e, "attr.type")}
	target := attribute(e, "for")
	k.isNode = target == "node" || target == "all" || target == ""
	w.keys[strings.Clone(id)] = k
	return w.each(func(e xml.StartElement) error {
		text, _, err := w.text()
		if err == nil && e.Name.Local == "default" && k.isNode && k.fallback == nil {
			k.fallback = &text
			w.fallback = append(w.fallback, id)
		}
		return err
	})
}

func (w *graphML) graph(e xml.StartElement) error {
	if w.graphs++; w.graphs > 1 {
		return errors.New("a second <graph>: expected one in the file")
	}
	byDefault := attribute(e, "edgedefault")
	if byDefault != "directed" && byDefault != "undirected" {
		return fmt.Errorf("edgedefault=%.40q: expected \"directed\" or \"undirected\"", byDefault)
	}
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "node":
			return w.node(e)
		case "edge":
			own := attribute(e, "directed")
			w.b.Directed(own == "true" || own != "false" && byDefault == "directed")
			return w.edge(e)
		case "hyperedge":
			return errors.New("a hyperedge: expected edges of two nodes")
		case "graph":
			return errors.New("a graph in a graph: expected one")
		}
		return w.skip()
	})
}

func (w *graphML) node(e xml.StartElement) error {
	seen := map[string]bool{}
	err := w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "graph":
			return errors.New("a graph in a node: expected one graph without others inside")
		case "data":
		default:
			return w.skip()
		}
		id := attribute(e, "key")
		k := w.keys[id]
		if k == nil || !k.isNode {
			return fmt.Errorf("the key %.80q is not declared for nodes: expected a <key> before the graph", id)
		}
		if len(w.fallback) > 0 {
			seen[id] = true
		}
		text, nested, err := w.text()
		if err != nil {
			return err
		}
		if nested {
			return w.b.Other(k.name, "XML")
		}
		return w.value(k, text)
	})
	if err != nil {
		return err
	}
	for _, id := range w.fallback {
		if k := w.keys[id]; !seen[id] {
			// A default is short in the file, yet takes memory at every node.
			if w.filled++; w.filled > 1_000_000+w.decoder.InputOffset() {
				return fmt.Errorf("defaults of %d keys at each node: expected values at the nodes themselves", len(w.fallback))
			}
			if err := w.value(k, *k.fallback); err != nil {
				return err
			}
		}
	}
	return w.b.Node(attribute(e, "id"))
}

func (w *graphML) value(k *graphMLKey, text string) error {
	trimmed := strings.TrimSpace(text)
	switch k.kind {
	case "int", "integer", "long", "float", "double":
		x, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			return fmt.Errorf("GraphML key %.80q: found %.40q: expected a number, as its type %s says", k.name, text, k.kind)
		}
		return w.b.Number(k.name, x, trimmed)
	case "boolean":
		truth, err := strconv.ParseBool(strings.ToLower(trimmed))
		if err != nil {
			return fmt.Errorf("GraphML key %.80q: found %.40q: expected true or false", k.name, text)
		}
		return w.b.Truth(k.name, truth)
	case "string":
		return w.b.String(k.name, text)
	}
	return w.b.Other(k.name, fmt.Sprintf("%.40q", k.kind))
}

func (w *graphML) edge(e xml.StartElement) error {
	if err := w.b.Edge(attribute(e, "source"), attribute(e, "target")); err != nil {
		return err
	}
	return w.each(func(e xml.StartElement) error {
		if e.Name.Local == "data" {
			if k := w.keys[attribute(e, "key")]; k != nil && len(w.edgeKeys) <= maxKeys {
				w.edgeKeys[k.name]++
			}
		}
		return w.skip()
	})
}
