package formats

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets/internal/graphfile"
)

// NodeLink reads NetworkX's node-link JSON, which D3 also reads.
func NodeLink(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) {
	limited := &graphfile.TokenReader{Ctx: ctx, R: graphfile.Text(in), Most: maxToken, What: "text or number"}
	w := &nodeLink{limited: limited, decoder: json.NewDecoder(&nulls{in: bufio.NewReaderSize(limited, 1<<16)}),
		b: graphfile.NewBuilder(ctx, in, "node-link JSON", "attribute")}
	w.decoder.UseNumber()
	g, err := w.file()
	if err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			err = fmt.Errorf("not JSON: %w", err)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("the file ends too early: expected a whole JSON object")
		}
		return nil, fmt.Errorf("%s: byte %d: %w", in.Name, w.decoder.InputOffset(), err)
	}
	return g, nil
}

// nulls replaces Python's NaN, which is not JSON, by null.
type nulls struct {
	in     *bufio.Reader
	text   bool // true inside a JSON string
	escape bool
	rest   []byte // unread rest of the "null" that replaces a NaN
}

// Read blocks until it has at least one byte.
func (n *nulls) Read(p []byte) (read int, err error) {
	for read < len(p) {
		if len(n.rest) > 0 {
			p[read], n.rest = n.rest[0], n.rest[1:]
			read++
			continue
		}
		if read > 0 && n.in.Buffered() == 0 {
			return read, nil
		}
		c, err := n.in.ReadByte()
		if err != nil {
			return read, err
		}
		switch {
		case n.escape:
			n.escape = false
		case c == '\\' && n.text:
			n.escape = true
		case c == '"':
			n.text = !n.text
		case c == 'N' && !n.text:
			if next, _ := n.in.Peek(2); string(next) == "aN" {
				_, _ = n.in.Discard(2)
				c, n.rest = 'n', []byte("ull")
			}
		}
		p[read] = c
		read++
	}
	return read, nil
}

type nodeLink struct {
	limited *graphfile.TokenReader
	decoder *json.Decoder
	edges   map[string]bool // names of edges' attributes
	b       *graphfile.Builder
}

func (w *nodeLink) token() (json.Token, error) {
	if err := w.limited.Next(); err != nil {
		return nil, err
	}
	t, err := w.decoder.Token()
	switch t {
	case json.Delim('['), json.Delim('{'):
		err = w.limited.Nest(1)
	case json.Delim(']'), json.Delim('}'):
		err = w.limited.Nest(-1)
	}
	return t, err
}

func (w *nodeLink) skip(t json.Token) error {
	depth := 0
	for {
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = w.token(); err != nil {
			return err
		}
	}
}

func (w *nodeLink) object(what string, t json.Token, field func(key string, t json.Token) error) error {
	if t != json.Delim('{') {
		return fmt.Errorf("%s is %s: expected an object", what, describe(t))
	}
	return w.until('}', func(t json.Token) error {
		key, _ := t.(string)
		t, err := w.token()
		if err != nil {
			return err
		}
		return field(key, t)
	})
}

func (w *nodeLink) list(what string, t json.Token, item func(t json.Token) error) error {
	if t != json.Delim('[') {
		return fmt.Errorf("%s is %s: expected a list", what, describe(t))
	}
	return w.until(']', item)
}

func (w *nodeLink) until(end json.Delim, each func(t json.Token) error) error {
	for {
		t, err := w.token()
		if err != nil || t == end {
			return err
		}
		if err := each(t); err != nil {
			return err
		}
	}
}

func describe(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "text"
	case json.Delim:
		if t == '[' {
			return "a list"
		}
	}
	return "an object"
}

func (w *nodeLink) file() (*graphfile.Graph, error) {
	t, err := w.token()
	if err != nil {
		return nil, err
	}
	seen, links := map[string]bool{}, ""
	err = w.object("the file", t, func(key string, t json.Token) error {
		if part := strings.Replace(key, "edges", "links", 1); seen[part] && part == "links" && key != links {
			return errors.New(`both "links" and "edges" are there: expected one of them`)
		} else if seen[part] {
			return fmt.Errorf("%q is there twice", key)
		} else if part == "nodes" || part == "links" {
			if seen[part] = true; part == "links" {
				links = key
			}
		}
		switch key {
		case "directed":
			directed, ok := t.(bool)
			if !ok {
				return fmt.Errorf("%q is %s: expected true or false", key, describe(t))
			}
			w.b.Directed(directed)
			return nil
		case "nodes":
			return w.list(`"nodes"`, t, w.node)
		case "links", "edges":
			w.edges = map[string]bool{}
			return w.list(strconv.Quote(key), t, w.edge)
		case "graph", "multigraph":
		default:
			w.b.Notef("%.80q: left out: expected nodes, links or edges, directed, multigraph and graph", key)
		}
		return w.skip(t)
	})
	if err != nil {
		return nil, err
	}
	switch t, err := w.decoder.Token(); {
	case err == nil:
		return nil, fmt.Errorf("%s follows the end of the graph: expected nothing", describe(t))
	case !errors.Is(err, io.EOF):
		return nil, err
	case !seen["nodes"] || !seen["links"]:
		return nil, errors.New(`expected "nodes" and "links" (or "edges"), as networkx.node_link_data writes them`)
	}
	return w.b.Finish()
}

func id(what string, t json.Token) (string, error) {
	switch t := t.(type) {
	case string:
		return t, nil
	case json.Number:
		return t.String(), nil
	}
	return "", fmt.Errorf("%s is %s: expected text or a number", what, describe(t))
}

func (w *nodeLink) node(t json.Token) error {
	name, found := "", false
	err := w.object("a node", t, func(key string, t json.Token) (err error) {
		if key == "id" {
			if found {
				return errors.New("a node has two ids")
			}
			found = true
			name, err = id("an id", t)
			return err
		}
		return w.value(key, t)
	})
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New(`a node without "id": every node needs one`)
	}
	return w.b.Node(name)
}

func (w *nodeLink) value(key string, t json.Token) error {
	switch t := t.(type) {
	case nil:
		return w.b.Null(key)
	case bool:
		return w.b.Truth(key, t)
	case json.Number:
		x, err := t.Float64()
		if err != nil {
			return fmt.Errorf("attribute %.80q: found %.40q: expected a finite number", key, t)
		}
		return w.b.Number(key, x, t.String())
	case string:
		return w.b.String(key, t)
	}
	if t != json.Delim('[') {
		if err := w.b.Other(key, "object"); err != nil {
			return err
		}
		return w.skip(t)
	}
	i, other := -1, false
	return w.list(key, t, func(t json.Token) error {
		_, number := t.(json.Number)
		_, truth := t.(bool)
		if i++; !other && (number || truth) {
			return w.value(fmt.Sprintf("%s[%d]", key, i), t)
		}
		if !other {
			other = true
			if err := w.b.Other(key, "list"); err != nil {
				return err
			}
		}
		return w.skip(t)
	})
}

func (w *nodeLink) edge(t json.Token) error {
	var ends [2]string
	var found [2]bool
	err := w.object("an edge", t, func(key string, t json.Token) (err error) {
		i := slices.Index([]string{"source", "target"}, key)
		if i < 0 {
			if key != "key" && !w.edges[key] && len(w.edges) < 100 {
				w.edges[strings.Clone(key)] = true
				w.b.Notef("attribute %.80q of edges: left out", key)
			}
			return w.skip(t)
		}
		if found[i] {
			return fmt.Errorf("an edge has two of %q", key)
		}
		found[i] = true
		ends[i], err = id(strconv.Quote(key), t)
		return err
	})
	switch {
	case err != nil:
		return err
	case !found[0] || !found[1]:
		return errors.New(`an edge lacks "source" or "target"`)
	}
	return w.b.Edge(ends[0], ends[1])
}
