package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodemask/internal/dataframe"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

func newResultsCommand() *cobra.Command {
	c := &cobra.Command{Use: "results", Short: "List, show, check, export and merge recorded results",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var folder string
	addResults(c.PersistentFlags(), &folder, "results", "")
	add := func(use, short string, args cobra.PositionalArgs, run func(c *cobra.Command, args []string) error) {
		c.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: run})
	}
	add("list", "List the cells, and how many trials each has", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		records, err := record.Open(folder).Load()
		if err != nil {
			return err
		}
		counts, order := map[string]int{}, []string(nil)
		for _, r := range records {
			name := r.Backend + " " + r.Cell
			if counts[name]++; counts[name] == 1 {
				order = append(order, name)
			}
		}
		if len(order) == 0 {
			return noRecords(folder)
		}
		for _, name := range order {
			fmt.Fprintf(c.OutOrStdout(), "%4d  %s\n", counts[name], name)
		}
		return nil
	})
	add("show CELL", "Print a cell's records, a line of JSON each", cobra.ExactArgs(1),
		func(c *cobra.Command, args []string) error {
			records, err := record.Open(folder).Load()
			if err != nil {
				return err
			}
			records = slices.DeleteFunc(records, func(r record.Record) bool { return r.Cell != args[0] })
			if len(records) == 0 {
				return misusef("no results of cell %q: 'nodemask results list' names those that there are", args[0])
			}
			for _, r := range records {
				line, err := record.Line(r)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s\n", line)
			}
			return nil
		})
	add("verify", "Check every record: that it can be read, that it agrees with its cell, and that no two contradict "+
		"each other", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		records, err := record.Open(folder).Verify()
		trainings := 0
		for _, part := range [][2]string{{report.FirstFolder, judge.FirstProtocol()},
			{report.SecondFolder, judge.SecondProtocol()}} {
			n, more := record.OpenUnder(filepath.Join(folder, part[0]), part[1]).Verify()
			trainings, err = trainings+n, errors.Join(err, more)
		}
		if err != nil {
			return err
		}
		if records+trainings == 0 {
			return noRecords(folder)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%d records and %d trainings in order\n", records, trainings)
		return err
	})
	c.AddCommand(newExportResultsCommand(&folder))
	add("merge FOLDER…", "Add what is in other folders of results; records that contradict those that are there are "+
		"left "+
		"out, and named", cobra.MinimumNArgs(1), func(c *cobra.Command, args []string) error {
		added, err := record.Open(folder).Merge(args...)
		fmt.Fprintf(c.OutOrStdout(), "%d records added\n", added)
		return err
	})
	return c
}

// noRecords is the error of a folder without a record: another is likely meant.
func noRecords(folder string) error {
	return misusef("--results %s: no records there: expected a folder of results", folder)
}

// newExportResultsCommand writes the trials of a folder as one table.
func newExportResultsCommand(folder *string) *cobra.Command {
	var output string
	var readings bool
	c := &cobra.Command{
		Use:   "export",
		Short: "Write all trials as one table, for pandas, R and others",
		Long: `Write all trials as one table, for pandas, R and others: CSV.

A row is a trial, and a column is what its name says: F1 and accuracy in percent, seconds, seeds, and a column for each
flag of 'nodemask train' that says how it was trained. A field is empty (null, NA) where a trial does not have it.`,
		Example: `  nodemask results export > trials.csv
  nodemask results export --readings --output trials.csv`,
	}
	addTableOutput(c.Flags(), &output)
	c.Flags().BoolVar(&readings, "readings", false,
		"also what 'nodemask multiverse' trained, a row for each way to stop and to arrive")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := checkEnding(output, ".csv"); err != nil {
			return err
		}
		var trials dataframe.Table
		count := 0
		err := unlessInterrupted(c.Context(), func() error {
			records, err := loaded(*folder, readings)
			trials, count = record.Tidy(records), len(records)
			return err
		})
		if err != nil {
			return err
		}
		if err := writeTable(c, trials, output); err != nil || output == "" {
			return err
		}
		what := "trials"
		if readings { // a trial there has a row for each way to stop and to arrive
			what = "rows"
		}
		_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %d %s to %s\n", count, what, output)
		return err
	}
	return c
}

// loaded returns the trials of a folder, of which it must have some.
func loaded(folder string, readings bool) ([]record.Record, error) {
	records, err := record.Open(folder).Load()
	if err != nil {
		return nil, err
	}
	if readings {
		for _, part := range []string{report.FirstFolder, report.SecondFolder} {
			trials, err := record.Open(filepath.Join(folder, part)).Load()
			if err != nil {
				return nil, err
			}
			for _, t := range trials {
				records = append(records, t.Records()...)
			}
		}
	}
	if len(records) == 0 {
		return nil, noRecords(folder)
	}
	return records, nil
}
