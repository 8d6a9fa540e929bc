package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestWhatAFlagCannotBeIsSaidInWordsByEveryCommand(t *testing.T) {
	checked := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			switch flag.Value.Type() {
			case "string", "stringSlice", "value": // what these can be, the command says
				return
			}
			checked++
			args := append(strings.Fields(c.CommandPath())[1:], "--"+flag.Name+"=perhaps")
			code, out, diagnostics := nodemask(t, args...)
			require.Equal(t, 2, code, args)
			require.Empty(t, out, args)
			require.Regexp(t, `^nodemask: invalid argument "perhaps" for "[^"]+" flag: expected [a-z0 ]+\n$`, diagnostics, args)
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
	require.Greater(t, checked, 40)
}
