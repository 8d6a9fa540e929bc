package main

import (
	"errors"
	"fmt"
	"path/filepath"

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

func newVerifyCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{Use: "verify", Args: cobra.NoArgs, Short: "Check every record: that it can be read, that it " +
		"agrees with its cell, and that no two contradict each other"}
	addResults(c.Flags(), &folder, "results", "")
	c.RunE = func(c *cobra.Command, _ []string) error {
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
	}
	return c
}
