package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a part of a command's flags under a heading.
type flagGroup struct {
	heading string
	flags   []string
}

// trainGroups are the flags of train by what they are about. What is in none of them comes last.
var trainGroups = []flagGroup{
	{"What is trained on", []string{"data", "data-dir", "setting", "train", "arrivals", "validation", "split-seed", "resplit", "raw-features"}},
	{"Node masking, and what else regularises", []string{"keep-rate", "mask-over", "rescale", "self-term", "regulariser", "dropout", "attention-dropout"}},
	{"The model", []string{"model", "preset", "layers", "hidden", "mlp-layers", "epsilon", "learn-epsilon", "norm", "readout", "residual", "heads"}},
	{"Training", []string{"trials", "seed", "learning-rate", "weight-decay", "max-epochs", "patience", "stop-on"}},
	{"What comes out", []string{"json", "cache-inference", "save-model", "save-cache"}},
	{"Where it runs", []string{"backend", "jobs"}},
}

// groupFlags has a command's help list its flags under headings.
func groupFlags(c *cobra.Command, groups []flagGroup) {
	c.InitDefaultHelpFlag()
	var text strings.Builder
	listed := map[string]bool{}
	write := func(heading string, has func(name string) bool) {
		part := pflag.NewFlagSet(heading, pflag.ContinueOnError)
		part.SortFlags = false
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if has(f.Name) && !listed[f.Name] {
				part.AddFlag(f)
				listed[f.Name] = true
			}
		})
		if part.HasFlags() {
			text.WriteString(heading + ":\n" + part.FlagUsages() + "\n")
		}
	}
	for _, g := range groups {
		write(g.heading, func(name string) bool { return slices.Contains(g.flags, name) })
	}
	write("Other flags", func(string) bool { return true })
	c.SetUsageFunc(func(c *cobra.Command) error {
		c.Printf("Usage:\n  %s\n\nExamples:\n%s\n\n%s", c.UseLine(), c.Example, text.String())
		return nil
	})
}
