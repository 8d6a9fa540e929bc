package explorer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/csr"
	"nodemask/internal/svg"
)

const fallbackLimit = 100_000

func firstTree(g *csr.Graph, root int32, hops int, mask []bool) (*aggtree.Tree, error) {
	for {
		tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask, Limit: fallbackLimit})
		var large *aggtree.TooLargeError
		if !errors.As(err, &large) {
			return tree, err
		}
		hops--
	}
}

func (o Options) image(tree *aggtree.Tree) ([]byte, error) {
	var b bytes.Buffer
	err := draw.WriteSVG(&b, tree, draw.Options{
		Names: o.Names, Colours: o.Colours, Classes: o.Classes, Ghosts: o.Mask != nil,
		BaseGraph: true,
	})
	return b.Bytes(), err
}

func altText(tree *aggtree.Tree, names []string) string {
	alt := fmt.Sprintf("The %d-aggregation tree of node %s: %d nodes", tree.Hops, svg.Name(tree.Base[0], names),
		tree.NumNodes())
	for depth := range tree.Hops + 1 {
		first, end := tree.AtDepth(depth)
		alt += fmt.Sprintf(", %d at depth %d", end-first, depth)
	}
	return strings.TrimSpace(svg.Plain(alt))
}
