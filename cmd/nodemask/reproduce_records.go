package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

func storesOf(folder string) []*record.Store {
	return []*record.Store{record.Open(folder),
		record.OpenUnder(filepath.Join(folder, report.FirstFolder), judge.FirstProtocol()),
		record.OpenUnder(filepath.Join(folder, report.SecondFolder), judge.SecondProtocol()),
		record.OpenUnder(filepath.Join(folder, report.ThirdFolder), judge.ThirdProtocol())}
}

func loaded(folder string) (records []record.Record, err error) {
	for _, store := range storesOf(folder) {
		some, err := store.Load()
		if err != nil {
			return nil, err
		}
		records = append(records, some...)
	}
	if len(records) == 0 {
		return nil, misusef("--results %s: no records there: expected a folder of results", folder)
	}
	return records, nil
}

func recordCommand(use, short string, args cobra.PositionalArgs,
	run func(c *cobra.Command, folder string, args []string) error) *cobra.Command {
	var folder string
	c := &cobra.Command{Use: use, Short: short, Args: args}
	addResults(c.Flags(), &folder, "results", "")
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, folder, args) }
	return c
}

func newVerifyCommand() *cobra.Command {
	return recordCommand("verify", "Check every record: that it can be read, that it agrees with its cell, and that no "+
		"two contradict each other", cobra.NoArgs, func(c *cobra.Command, folder string, _ []string) error {
		var counts [4]int
		var errs []error
		for i, store := range storesOf(folder) {
			n, err := store.Verify()
			counts[i], errs = n, append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if counts == [4]int{} {
			_, err := loaded(folder)
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%d records and %d trainings in order\n", counts[0], counts[1]+counts[2]+counts[3])
		return err
	})
}

func newMergeCommand() *cobra.Command {
	return recordCommand("merge FOLDER…", "Add what is in other folders of results; records that contradict those that "+
		"are there are left out, and named", cobra.MinimumNArgs(1),
		func(c *cobra.Command, folder string, others []string) error {
			added := 0
			var errs []error
			for i, part := range []string{"", report.FirstFolder, report.SecondFolder, report.ThirdFolder} {
				var from []string
				for _, other := range others {
					if path := filepath.Join(other, part); part == "" || isFolder(path) {
						from = append(from, path)
					}
				}
				n, err := storesOf(folder)[i].Merge(from...)
				added, errs = added+n, append(errs, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%d records added\n", added)
			return errors.Join(errs...)
		})
}

func newListCommand() *cobra.Command {
	return recordCommand("list", "List the cells that are recorded, and how many trials each has", cobra.NoArgs,
		func(c *cobra.Command, folder string, _ []string) error {
			records, err := loaded(folder)
			counts, order := map[string]int{}, []string(nil)
			for _, r := range records {
				name := r.Backend + " " + r.Cell
				if counts[name]++; counts[name] == 1 {
					order = append(order, name)
				}
			}
			for _, name := range order {
				fmt.Fprintf(c.OutOrStdout(), "%4d  %s\n", counts[name], name)
			}
			return err
		})
}

func newRecordsCommand() *cobra.Command {
	return recordCommand("records CELL", "Print a cell's records, a line of JSON each", cobra.ExactArgs(1),
		func(c *cobra.Command, folder string, args []string) error {
			records, err := loaded(folder)
			if err != nil {
				return err
			}
			records = slices.DeleteFunc(records, func(r record.Record) bool { return r.Cell != args[0] })
			if len(records) == 0 {
				return misusef("no records of cell %q: 'nodemask report list' names those that there are", args[0])
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
}

func newExportRecordsCommand() *cobra.Command {
	var output string
	var readings bool
	c := recordCommand("export", "Write all trials as one table, for pandas, R and others", cobra.NoArgs,
		func(c *cobra.Command, folder string, _ []string) error {
			if err := checkEnding(output, ".csv"); err != nil {
				return err
			}
			var trials [][]string
			count := 0
			err := unlessInterrupted(c.Context(), func() error {
				all, err := loaded(folder)
				var rows []record.Record
				for _, r := range all {
					switch {
					case r.Readings == nil:
						rows = append(rows, r)
					case readings:
						rows = append(rows, r.Records()...)
					}
				}
				trials, count = record.Tidy(rows), len(rows)
				return err
			})
			if err != nil {
				return err
			}
			if err := writeTable(c, slices.Values(trials), output); err != nil || output == "" {
				return err
			}
			what := "trials"
			if readings { // a row per stopping rule and setting
				what = "rows"
			}
			_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %d %s to %s\n", count, what, output)
			return err
		})
	c.Long = `Write all trials as one table, for pandas, R and others: CSV.

A row is a trial, and a column is what its name says: F1 and accuracy in percent, seconds, seeds, and a column for each
flag of 'nodemask train' that says how it was trained. A field is empty (null, NA) where a trial does not have it.`
	c.Example = `  nodemask reproduce export > trials.csv
  nodemask reproduce export --readings --output trials.csv`
	addTableOutput(c.Flags(), &output)
	c.Flags().BoolVar(&readings, "readings", false,
		"also the trainings of both protocols, a row for each way to stop and to arrive")
	return c
}
