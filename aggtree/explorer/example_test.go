package explorer_test

import (
	"fmt"
	"log"
	"strings"

	"nodemask/aggtree/draw"
	"nodemask/aggtree/explorer"
)

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
