package draw

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"nodemask/aggtree"
)

// WriteText writes a tree as text, one node per line.
func WriteText(out io.Writer, t *aggtree.Tree, o Options) error {
	if err := notEmpty(t); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	f := o.fold(t)
	var write func(i int32, arm, prefix string)
	write = func(i int32, arm, prefix string) {
		if f.Ghost[i] {
			arm = strings.Replace(arm, "─", "╌", 1)
		}
		w.WriteString(arm + f.text(i, o.Names))
		if remark := f.remark(i); remark != "" {
			w.WriteString(" (" + remark + ")")
		}
		w.WriteByte('\n')
		first, end := f.Tree.Children(i)
		for child := first; child < end; child++ {
			if child < end-1 {
				write(child, prefix+"├─ ", prefix+"│  ")
			} else {
				write(child, prefix+"└─ ", prefix+"   ")
			}
		}
	}
	write(0, "", "")
	return w.Flush()
}

func notEmpty(t *aggtree.Tree) error {
	if t == nil || t.NumNodes() == 0 {
		return errors.New("the tree is empty: every tree has a root, see aggtree.Build")
	}
	return nil
}
