package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

type reproduceFlags struct {
	runFlags
	trials      int
	list, pages bool
	data, model string
}

func newReproduceCommand() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [ID… | PART]",
		Short: "Compute the paper's tables and figures, or a part of the protocols, or what is missing of them",
		Long: `Compute the paper's tables and figures, or what is missing of them.

Each trial is kept in the folder of results as it ends, so an interrupted run goes on where it stopped, and several may
share a folder. Without IDs everything is computed but Reddit. Its data and CiteSeer's are to be fetched first ('nodemask
data fetch citeseer').

A part of paper/PROTOCOL-2.md is run by its name: cited, departures, stated, scale, tables, balanced; of
paper/PROTOCOL-3.md: graphs; of paper/PROTOCOL.md: depth, tuned. 'nodemask report PART' shows the effects in each reading,
'nodemask report table-balanced', table-tuned and fig-depth the other parts.`,
		Example: `  nodemask reproduce --list
  nodemask reproduce table-mad --trials 1
  nodemask reproduce --jobs 2 --shard 1/4
  nodemask reproduce cited --data cora --model gin --jobs 2
  nodemask reproduce verify`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&f.trials, "trials", 10, "trials of each cell; parts have the protocol's")
	f.add(flags, "cells", "results", "")
	flags.BoolVar(&f.list, "list", false, "list the artifacts and how many cells they have, and run nothing")
	flags.BoolVar(&f.pages, "pages", false, "run the first trial of each cell that pages run again, as browsers compute "+
		"it: --backend go, into results/"+report.PagesFolder)
	addPart(flags, &f.data, &f.model)
	c.RunE = func(c *cobra.Command, ids []string) error {
		part, err := partOf(ids, append(judge.Parts(), depthPart, tunedPart)...)
		switch {
		case err != nil:
			return err
		case part == "":
			return f.run(c, ids)
		case c.Flags().Changed("trials"):
			return misusef("--trials: a part has the protocol's: leave it out")
		}
		if _, _, err := f.share(); err != nil {
			return err
		}
		return openPart(c, part, f.runFlags, f.data, f.model).run()
	}
	c.AddCommand(newStatusCommand(), newVerifyCommand(), newAgainCommand(), newMergeCommand(), newExportTableCommand())
	return c
}

func (f *reproduceFlags) run(c *cobra.Command, ids []string) error {
	artifacts, err := report.Find(ids...)
	if err != nil {
		return misuse{err}
	}
	if _, _, err := f.share(); err != nil {
		return err
	}
	if f.trials < 1 || f.trials > 1_000_000 {
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	}
	if f.list {
		for _, a := range artifacts {
			fmt.Fprintf(c.OutOrStdout(), "%-24s %4d cells  %s\n", a.ID, len(a.Cells()), a.Title)
		}
		return nil
	}
	if len(ids) == 0 {
		artifacts = slices.DeleteFunc(artifacts, func(a report.Artifact) bool { return a.Elsewhere })
	}
	if f.pages {
		return f.runPages(c, artifacts)
	}
	all := report.CellsOf(artifacts)
	cells := slices.DeleteFunc(slices.Clone(all), report.ReadOff)
	const others = "the parts cited, tables, depth, balanced and tuned run those"
	switch left := len(all) - len(cells); {
	case len(cells) == 0:
		return misusef("%s: all cells have a split for each trial: %s", strings.Join(ids, " "), others)
	case left > 0:
		fmt.Fprintf(c.ErrOrStderr(), "%d cells have a split for each trial: %s\n", left, others)
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	ran, err := f.train(c, b, record.Open(f.folder), cells, measure.Options{Seeds: hyper.Seeds(1, f.trials)},
		func(last record.Record) string {
			return fmt.Sprintf("%s, seed %d, macro F1 %.2f", last.Cell, last.Seed, last.MacroF1)
		})
	if err == nil && !ran {
		fmt.Fprintln(c.ErrOrStderr(), "all of these trials are there already: 'nodemask report' shows them")
	}
	return err
}

func (f *reproduceFlags) runPages(c *cobra.Command, artifacts []report.Artifact) error {
	b, err := openBackend(c.ErrOrStderr(), "go")
	if err != nil {
		return err
	}
	folder := filepath.Join("results", report.PagesFolder)
	_, err = f.train(c, b, record.Open(folder), report.PagesCells(artifacts),
		measure.Options{Seeds: hyper.Seeds(report.PagesSeed, 1), WithoutMAD: true}, func(last record.Record) string {
			return fmt.Sprintf("%s, macro F1 %.2f", last.Cell, last.MacroF1)
		})
	return err
}
