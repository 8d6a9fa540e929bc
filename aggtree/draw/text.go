package draw

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"nodemask/aggtree"
)

// WriteText writes a tree, one node per line.
func WriteText(out io.Writer, t *aggtree.Tree, o Options) error {
	if err := notEmpty(t); err != nil {
		return err
	}
	w := bufio.NewWriter(out) // keeps its first error
	f := o.fold(t)
	tree := f.Tree
	type line struct {
		node   int32
		prefix []byte
	}
	stack := []line{{node: 0}}
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		label := f.text(l.node, o.Names)
		if remark := f.remark(l.node); remark != "" {
			label += " (" + remark + ")"
		}
		prefix, last := l.prefix, true
		if l.node > 0 {
			last = tree.FirstChild[tree.Parent[l.node]+1] == l.node+1
			arm := "├─ "
			switch {
			case f.Ghost[l.node] && last:
				arm = "└╌ "
			case f.Ghost[l.node]:
				arm = "├╌ "
			case last:
				arm = "└─ "
			}
			w.Write(prefix)
			w.WriteString(arm)
			if last {
				prefix = append(slices.Clip(prefix), "   "...)
			} else {
				prefix = append(slices.Clip(prefix), "│  "...)
			}
		}
		w.WriteString(label)
		w.WriteByte('\n')
		first, end := tree.Children(l.node)
		for i := end - 1; i >= first; i-- {
			stack = append(stack, line{i, prefix})
		}
	}
	return w.Flush()
}

func notEmpty(t *aggtree.Tree) error {
	if t == nil || t.NumNodes() == 0 {
		return errors.New("the tree is empty: every tree has a root, see aggtree.Build")
	}
	return nil
}
