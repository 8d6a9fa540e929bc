package main

import (
	"cmp"
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
		total := 0
		var errs []error
		for _, store := range storesOf(folder) {
			n, err := store.Verify()
			total, errs = total+n, append(errs, err)
		}
		if err := errors.Join(errs...); err != nil || total == 0 {
			_, none := loaded(folder)
			return cmp.Or(err, none)
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%d trials in order\n", total)
		return err
	}
	return c
}
