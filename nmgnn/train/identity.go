package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
)

// identity holds all that determines a trial's results, except its seed. The error that refuses a checkpoint prints its
// keys.
type identity struct {
	Version    string            `json:"version"`
	Data       string            `json:"data"`
	Features   string            `json:"features"` // SHA-256, like edges, labels and split
	Edges      string            `json:"edges"`
	Labels     string            `json:"labels"`
	Split      string            `json:"split"`
	Setting    datasets.Setting  `json:"setting"`
	Arrivals   datasets.Arrivals `json:"arrivals"`
	Backend    string            `json:"backend"`
	Digits     string            `json:"digits"` // see [backend.Backend]
	Batches    int               `json:"batches"`
	Parameters hyper.Parameters  `json:"hyperparameters"`
}

func identify(b *backend.Backend, x Experiment, split *datasets.Split, o Batches,
	content identity) (string, error) {
	if o.Version == "" {
		return "", errors.New("checkpoints of a program without a version: expected one")
	}
	id := content
	id.Version, id.Split = o.Version, split.Hash()
	id.Setting, id.Arrivals, id.Parameters = x.Setting, x.Arrivals, x.Parameters
	id.Backend, id.Digits = fmt.Sprintf("%s, %s kernels", b.ID, b.Kernel()), b.Digits
	id.Batches = o.Clusters
	text, err := json.Marshal(id)
	return string(text), err
}

func contentOf(g *datasets.Graph, release func()) identity {
	sum := func(put func(h hash.Hash)) string {
		h := sha256.New()
		put(h)
		return fmt.Sprintf("%x", h.Sum(nil)[:16])
	}
	return identity{Data: g.Name,
		Features: sum(func(h hash.Hash) {
			f := g.Features
			fmt.Fprintln(h, f.Rows, f.Width, f.IsSparse()) // dropout draws per stored value
			putNumbers(h, f.Dense, release)
			putNumbers(h, f.Offsets, release)
			putNumbers(h, f.Columns, release)
			putNumbers(h, f.Values, release)
		}),
		Edges: sum(func(h hash.Hash) {
			putNumbers(h, g.Edges.Offsets, release)
			putNumbers(h, g.Edges.Indices, release)
		}),
		Labels: sum(func(h hash.Hash) {
			fmt.Fprintf(h, "%q", g.Classes)
			putNumbers(h, g.Labels, release)
		})}
}

func putNumbers[T int32 | int64 | float32](h hash.Hash, numbers []T, release func()) {
	fmt.Fprintln(h, len(numbers))
	for part := range slices.Chunk(numbers, numbersAtOnce) {
		_ = binary.Write(h, binary.LittleEndian, part) // a hash never fails
		if release != nil {
			release()
		}
	}
}

func differences(was, now string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(was), &a) != nil || json.Unmarshal([]byte(now), &b) != nil {
		return "version"
	}
	var names []string
	for name := range b {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
