package explorer_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"nodemask/aggtree/draw"
	"nodemask/aggtree/explorer"
)

func ExampleWritePage() {
	g, names := draw.PaperGraph()
	var page bytes.Buffer
	mask := []bool{false, false, false, true, false, false} // d, as in figure 7 (b)
	if err := explorer.WritePage(&page, g, 0, 2, explorer.Options{Names: names, Mask: mask}); err != nil {
		log.Fatal(err)
	}
	// A file for a browser: os.WriteFile("tree.html", page.Bytes(), 0o644). For a notebook's output, see WriteFragment.
	heading, _, _ := strings.Cut(page.String()[strings.Index(page.String(), "<h1>"):], "\n")
	fmt.Println(heading)
	// Output: <h1>Aggregation trees round node a</h1>
}

func ExampleWriteFragment() {
	g, names := draw.PaperGraph()
	var output strings.Builder
	err := explorer.WriteFragment(&output, g, 0, 3, explorer.Options{Names: names, KeepRate: 0.8, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	// In a gonb notebook: gonbui.DisplayHTML(output.String())
	first, _, _ := strings.Cut(output.String(), "\n")
	fmt.Println(first)
	// Output: <div class="nodemask-explorer">
}
