package draw

import (
	"bufio"
	"encoding/json"
	"fmt"

	"nodemask/aggtree"
)

// jsonNode is a node of the tree as JSON has it.
type jsonNode struct {
	ID     int32  `json:"id"`
	Base   int32  `json:"base"`
	Name   string `json:"name,omitempty"`
	Parent int32  `json:"parent"`
	Depth  int    `json:"depth"`
	Masked bool   `json:"masked"`
	Cached bool   `json:"cached"`
	Hidden int32  `json:"hidden,omitempty"`
}

// writeJSON writes a node a line, and holds no more than one line in memory.
func writeJSON(w *bufio.Writer, t *aggtree.Tree, o Options) error {
	fmt.Fprintf(w, "{\"root\":%d,\"hops\":%d,\"nodes\":[", t.Base[0], t.Hops)
	for depth := range t.Hops + 1 {
		first, end := t.AtDepth(depth)
		for i := first; i < end; i++ {
			n := jsonNode{ID: i, Base: t.Base[i], Parent: t.Parent[i], Depth: depth, Masked: i == 0 && t.RootMasked,
				Cached: t.Group != nil && i > 0}
			if int(n.Base) < len(o.Names) {
				n.Name = o.Names[n.Base]
			}
			if t.Hidden != nil {
				n.Hidden = t.Hidden[i]
			}
			line, err := json.Marshal(n)
			if err != nil {
				return err
			}
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteByte('\n')
			w.Write(line)
		}
	}
	w.WriteString("\n]}\n")
	return nil
}
