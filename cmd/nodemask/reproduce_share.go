package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"nodemask/paper/judge"
	"nodemask/paper/record"
)

func newStatusCommand() *cobra.Command {
	var f runFlags
	var data, model string
	c := &cobra.Command{Use: "status PART", Short: "Count recorded and missing trials of a part", Args: cobra.ExactArgs(1)}
	addResults(c.Flags(), &f.folder, "results", "")
	addPart(c.Flags(), &data, &model)
	c.RunE = func(c *cobra.Command, args []string) error {
		part, err := partOf(args, shownParts()...)
		if err == nil && part == "" {
			err = misusef("no part %q with cells of its own: expected one of %v", args[0], shownParts())
		}
		if err != nil {
			return err
		}
		return openPart(c, part, f, data, model).status()
	}
	return c
}

func (r partRun) status() error {
	questions, err := r.questions()
	if err != nil {
		return err
	}
	cells, err := judge.Cells(questions)
	if err != nil {
		return err
	}
	results, done, complete := r.store.Results(func(e error) { err = errors.Join(err, e) }), 0, 0
	for _, c := range cells {
		seeds := map[uint64]bool{}
		for _, trial := range results.Trials(c) {
			if slices.Contains(r.part.Seeds(), trial.Seed) {
				seeds[trial.Seed] = true
			}
		}
		done += len(seeds)
		if len(seeds) == len(r.part.Seeds()) {
			complete++
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(r.OutOrStdout(), "%s: %d of %d trials; %d of %d cells have all %d splits\n", r.part, done,
			len(cells)*len(r.part.Seeds()), complete, len(cells), len(r.part.Seeds()))
	}
	return err
}

func newMergeCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{Use: "merge FOLDER…", Args: cobra.MinimumNArgs(1), Short: "Add what is in other folders of " +
		"results; records that contradict those that are there are left out, and named"}
	addResults(c.Flags(), &folder, "results", "")
	c.RunE = func(c *cobra.Command, others []string) error {
		added := 0
		var wrong []error
		for _, other := range others {
			if !isFolder(other) {
				return misusef("no folder %s: expected folders of results", other)
			}
			for i, store := range storesOf(folder) {
				n, err := store.Merge(storesOf(other)[i])
				added, wrong = added+n, append(wrong, err)
			}
		}
		fmt.Fprintf(c.OutOrStdout(), "%d records added\n", added)
		return errors.Join(wrong...)
	}
	return c
}

func newExportTableCommand() *cobra.Command {
	var folder, output string
	c := &cobra.Command{Use: "export", Args: cobra.NoArgs, Short: "Write all trials as one table, for pandas, R and others",
		Long: `Write all trials as one table, for pandas, R and others: CSV.

A row is a record, a column a field of its JSON (docs/FORMATS.md); names inside objects follow a dot, as in mad.hidden,
and lists are left out. A field is empty where a record lacks it.`}
	addResults(c.Flags(), &folder, "results", "")
	addTableOutput(c.Flags(), &output)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := checkEnding(output, ".csv"); err != nil {
			return err
		}
		records, err := loaded(folder)
		if err != nil {
			return err
		}
		rows, err := tableOf(records)
		if err != nil {
			return err
		}
		return writeTable(c, slices.Values(rows), output)
	}
	return c
}

func tableOf(records []record.Record) (rows [][]string, err error) {
	of, columns := make([]map[string]string, len(records)), map[string]bool{}
	for i, r := range records {
		line, err := record.Line(r)
		if err != nil {
			return nil, err
		}
		fields := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber() // keep all digits
		if err := decoder.Decode(&fields); err != nil {
			return nil, err
		}
		of[i] = map[string]string{}
		flatten(of[i], "", fields)
		for name := range of[i] {
			columns[name] = true
		}
	}
	header := slices.Sorted(maps.Keys(columns))
	rows = append(rows, header)
	for _, fields := range of {
		row := make([]string, len(header))
		for i, name := range header {
			row[i] = fields[name]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func flatten(into map[string]string, prefix string, fields map[string]any) {
	for name, value := range fields {
		switch v := value.(type) {
		case map[string]any:
			flatten(into, prefix+name+".", v)
		case []any:
		default:
			into[prefix+name] = fmt.Sprint(v)
		}
	}
}
