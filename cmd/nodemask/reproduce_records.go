package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/backend"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
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

type again struct {
	*cobra.Command
	folder, dataDir, memory string
	most                    int64 // largest memory that a trial may take, in bytes
	backends                map[string]*backend.Backend
	count, far, left        int
}

func newAgainCommand() *cobra.Command {
	a := again{backends: map[string]*backend.Backend{}}
	var count int
	a.Command = &cobra.Command{
		Use:   "again [FILE]",
		Short: "Run recorded trials again, on their backends, and compare",
		Long: `Run recorded trials again, on their backends, and compare: those of a file (- is standard input), or some of the
folder of results, drawn at random. Records of xla:cpu without "digits" have last digits of the processor that made
them: those are not run again.`,
		Example: `  nodemask reproduce again --count 5
  head -n 3 results/go/cora-gat.jsonl | nodemask reproduce again -`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := a.Flags()
	flags.IntVar(&count, "count", 10, "trials to draw, without a file")
	addResults(flags, &a.folder, "results", "")
	addDataDir(flags, &a.dataDir)
	flags.StringVar(&a.memory, "memory", "2GiB", "most memory that a trial may take, as records may ask for more than "+
		"anybody wants")
	a.RunE = func(_ *cobra.Command, files []string) (err error) {
		if a.most, err = memory.Parse(a.memory); err != nil {
			return misusef("--memory %s: %w", a.memory, err)
		}
		switch {
		case len(files) > 0:
			err = a.ofFile(files[0])
		case count < 1:
			return misusef("--count %d: expected at least 1", count)
		default:
			err = a.ofFolder(count)
		}
		if err == nil && a.far+a.left > 0 {
			err = fmt.Errorf("of %d trials, %d came out otherwise and %d could not be run", a.count, a.far, a.left)
		}
		return err
	}
	return a.Command
}

func (a *again) ofFolder(count int) error {
	all, err := loaded(a.folder)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r record.Record) bool { return !portable(r) })
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, r := range all[:min(count, len(all))] {
		if err := a.run(r, a.folder); err != nil {
			return err
		}
	}
	return nil
}

func (a *again) ofFile(name string) error {
	in := a.InOrStdin()
	if name != "-" {
		file, err := wholefile.Open(name)
		if err != nil {
			return misuse{fileError("", name, err)}
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		place := fmt.Sprintf("%s: line %d", name, number)
		r, err := record.Parse(lines.Bytes())
		if err != nil {
			return misusef("%s: %w", place, err)
		}
		if err := a.run(r, place); err != nil {
			return err
		}
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("%s: after record %d: %w", name, a.count, lines.Err())
	case a.count == 0:
		return misusef("%s: no record: expected a line of JSON for each, as results/ has them", name)
	}
	return nil
}

func (a *again) run(old record.Record, place string) error {
	a.count++
	say := func(said string) {
		fmt.Fprintf(a.OutOrStdout(), "%s, seed %d: %s\n", old.Cell, old.Seed, said)
	}
	if !portable(old) {
		say("recorded before portable digits: cannot be run again here")
		a.left++
		return nil
	}
	if a.backends[old.Backend] == nil {
		b, err := openBackend(a.ErrOrStderr(), old.Backend)
		if err != nil {
			return err
		}
		a.backends[old.Backend] = b
	}
	from := runFlags{dataDir: a.dataDir}
	at, err := datasets.Locate(old.Data, datasets.OpenOptions{})
	if err == nil && at.String() == "embedded" && (old.Source == "embedded" || old.Readings != nil) {
		from.dataDir = "" // the trial read the embedded files; others may order nodes differently
	}
	var unopened error
	open := func(ctx context.Context, data string) (g *datasets.Graph, err error) {
		g, unopened = from.open(ctx, data)
		return g, unopened
	}
	differences, err := measure.Again(a.Context(), a.backends[old.Backend], open, old, a.most)
	switch {
	case errors.Is(err, memory.ErrTooLarge):
		return fmt.Errorf("%s: %w: --memory allows more", place, err)
	case unopened != nil && !errors.Is(err, context.Canceled) && !errors.As(err, new(misuse)):
		say("cannot be run: " + plain(err.Error()))
		a.left++
	case err != nil:
		return err
	case len(differences) == 0:
		say("the same to the last digit")
	default:
		a.far++
		say("DIFFERS: " + strings.Join(differences, "; "))
	}
	return nil
}

// portable reports whether a new run on this CPU should give exactly a record's numbers. If XLA on a CPU made the
// record and the field Digits is empty, a CPU with AVX2 may give other numbers.
func portable(r record.Record) bool {
	return r.Backend != "xla:cpu" || r.Digits != "" || !backend.HasAVX2()
}
