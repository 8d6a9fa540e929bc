package batches

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
	"nodemask/nmgnn/train"
)

// identity is all that a trial's numbers follow from, but its seed. Its keys are the words in which a checkpoint of
// something else is refused.
type identity struct {
	Version    string            `json:"version"`
	Data       string            `json:"data"`
	Features   string            `json:"features"` // SHA-256, as of edges, labels and the split
	Edges      string            `json:"edges"`
	Labels     string            `json:"labels"`
	Split      string            `json:"split"`
	Setting    datasets.Setting  `json:"setting"`
	Arrivals   datasets.Arrivals `json:"arrivals"`
	Backend    string            `json:"backend"`
	Digits     string            `json:"digits"` // of [backend.Backend]
	Batches    int               `json:"batches"`
	KeepBytes  int64             `json:"memory"` // decides whether batches are kept
	Parameters hyper.Parameters  `json:"hyperparameters"`
}

// identify describes the trials of an experiment. What was hashed of the graph is in content.
func identify(b *backend.Backend, x train.Experiment, split *datasets.Split, o Options,
	content identity) (string, error) {
	if o.Version == "" {
		return "", errors.New("checkpoints of a program without a version: expected one")
	}
	id := content
	id.Version, id.Split = o.Version, split.Hash()
	id.Setting, id.Arrivals, id.Parameters = x.Setting, x.Arrivals, x.Parameters
	id.Backend, id.Digits = fmt.Sprintf("%s, %s kernels", b.ID, b.Kernel()), b.Digits
	id.Batches, id.KeepBytes = o.Clusters, o.keepBytes()
	text, err := json.Marshal(id)
	return string(text), err
}

// contentOf hashes a graph: another one with the same name and as many nodes and edges is another one. release is
// called when some of it was read; it may be nil.
func contentOf(g *datasets.Graph, release func()) identity {
	sum := func(put func(h hash.Hash)) string {
		h := sha256.New()
		put(h)
		return fmt.Sprintf("%x", h.Sum(nil)[:16])
	}
	return identity{Data: g.Name,
		Features: sum(func(h hash.Hash) {
			f := g.Features
			fmt.Fprintln(h, f.Rows, f.Width, f.IsSparse()) // dropout draws for what is stored
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

// putNumbers hashes how many numbers there are, and the numbers.
func putNumbers[T int32 | int64 | float32](h hash.Hash, numbers []T, release func()) {
	fmt.Fprintln(h, len(numbers))
	for part := range slices.Chunk(numbers, numbersAtOnce) {
		_ = binary.Write(h, binary.LittleEndian, part) // a hash takes all
		if release != nil {
			release()
		}
	}
}

// differences lists in what two identities differ.
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
