package main

import (
	"fmt"
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
	{"What is trained on", []string{"data", "data-dir", "setting", "train", "split", "arrivals", "validation", "split-seed", "resplit", "raw-features"}},
	{"Node masking, and what else regularises", []string{"keep-rate", "mask-over", "rescale", "self-term", "regulariser", "dropout", "dropout-on", "attention-dropout"}},
	{"The model", []string{"model", "preset", "layers", "hidden", "mlp-layers", "epsilon", "learn-epsilon", "norm", "readout", "residual", "heads"}},
	{"Training", []string{"trials", "seed", "learning-rate", "weight-decay", "max-epochs", "patience", "stop-on"}},
	{"What comes out", []string{"json", "cache-inference", "save-model", "save-cache"}},
	{"Graphs larger than memory", []string{"batches", "memory", "sample", "checkpoint", "batch-dir"}},
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

// didYouMean adds to an error about a misspelt word which of the known ones may be meant, if one is near.
func didYouMean(err error, word string, known []string) error {
	if near := nearest(word, known); near != "" {
		return fmt.Errorf("%w. Did you mean %s?", err, near)
	}
	return err
}

// nearest returns the known word that is fewest slips from a misspelt one: letters left out, added, changed, or turned round
// with the next. It is "" if more than a third of the word is wrong, and for a word that is known.
func nearest(word string, known []string) string {
	best, fewest := "", max(1, len(word)/3)+1
	for _, k := range known {
		switch n := slips(strings.ToLower(word), k); {
		case n == 0 && word == k:
			return ""
		case n < fewest:
			best, fewest = k, n
		}
	}
	return best
}

// slips is the distance of Damerau and Levenshtein, where no letter is moved twice.
func slips(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// unknownFlag adds the flag that may be meant to an error about one that c does not have.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError) error {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return didYouMean(err, "--"+err.GetSpecifiedName(), known)
}

// unknownCommand is the error for a word that is none of c's commands.
func unknownCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return misuse{didYouMean(fmt.Errorf("unknown command %q: see '%s --help'", word, c.CommandPath()), word, known)}
}

// newHelpCommand is 'nodemask help', which cobra's own ends as a success for a command that there is not.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			of := c.Root()
			for _, word := range args {
				next, _, err := of.Find([]string{word})
				if err != nil || next == of {
					return unknownCommand(of, word)
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
