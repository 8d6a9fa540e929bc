package report

import (
	"path/filepath"
	"slices"
	"sync"

	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
)

// Evidence is what claims are judged by: the trials of the paper's tables and of both protocols. It reads and judges
// what it is asked for, when it is asked: [Evidence.Err] says whether it could be read.
type Evidence struct {
	Records *record.Results
	// OnError is called when something cannot be read, if it is set.
	OnError func(error)

	load     func(...record.Pair) ([]record.Record, error) // of pairs, or of all without pairs
	all      *record.Results                               // of the first protocol
	cited    *record.Results                               // of the second protocol
	tables   []*record.Results                             // those that tables show: the first that has a cell counts
	answers  [][]judge.Answer                              // of the grid; nil: not asked yet
	verdicts map[string]Verdict                            // by the claim's ID
	err      error

	comparisons map[string]tunedComparison // by the table's ID
	cells       map[string][]record.Cell   // by the artifact's ID
}

// The folders of the trainings of PROTOCOL.md and PROTOCOL-2.md, in a folder of results; trials of tables lie beside
// them.
const (
	FirstFolder  = "protocol-1"
	SecondFolder = "protocol-2"
)

// Open returns what a folder of results says. Of its files it reads those that hold what is asked for, the
// first time.
func Open(folder string) *Evidence {
	e := &Evidence{load: record.Open(folder).Load}
	part := func(name, protocol string, only func(key string) bool) *record.Results {
		return record.OpenUnder(filepath.Join(folder, name), protocol).Results(only, e.fail)
	}
	e.all = part(FirstFolder, judge.FirstProtocol(), nil)
	e.cited = part(SecondFolder, judge.SecondProtocol(), nil)
	e.prepare()
	shown := func(key string) bool { return readOff().trained[key] }
	e.tables = []*record.Results{part(SecondFolder, judge.SecondProtocol(), shown),
		part(FirstFolder, judge.FirstProtocol(), shown)}
	return e
}

// OpenRecords reads the trials of the tables from a folder of results. Errors are those of files that cannot be read.
func OpenRecords(folder string) (*record.Results, error) {
	e := Open(folder)
	records := e.records()
	return record.NewResults(records), e.Err()
}

// prepare sets what is read and judged later.
func (e *Evidence) prepare() {
	e.verdicts = map[string]Verdict{}
	e.comparisons, e.cells = map[string]tunedComparison{}, map[string][]record.Cell{}
	e.tables = []*record.Results{e.cited, e.all}
	e.Records = record.LazyResults(
		func(data, model string) ([]record.Record, error) {
			return e.load(record.Pair{Data: data, Model: model})
		},
		func(c record.Cell) []record.Record {
			records, _ := e.readOff(c)
			return records
		}, e.fail)
}

// readOff returns what a protocol's trainings give for a cell of the tables with a split for each trial, and the folder
// that they are in.
func (e *Evidence) readOff(c record.Cell) (records []record.Record, folder string) {
	if !readOff().cells[c.Key()] {
		return nil, ""
	}
	folder, results, first, splits := SecondFolder, e.tables[0], uint64(judge.FirstSplit), uint64(judge.Splits)
	if judge.IsDepthCell(c) {
		folder, results, first, splits = FirstFolder, e.tables[1], judge.FirstDepthSplit, judge.DepthSplits
	}
	records = slices.DeleteFunc(results.ReadOff(c), func(r record.Record) bool { // tuned comparisons have other splits
		return r.Seed < first || r.Seed >= first+splits
	})
	return records, folder
}

// fail notes an error.
func (e *Evidence) fail(err error) {
	if err == nil {
		return
	}
	if e.err == nil {
		e.err = err
	}
	if e.OnError != nil {
		e.OnError(err)
	}
}

// Err returns the first error of reading what was asked for. If there is one, what tables, charts, verdicts and
// findings say lacks what could not be read, and is not to be shown.
func (e *Evidence) Err() error { return e.err }

// Trials returns how many trials the tables rest on. It reads all of them.
func (e *Evidence) Trials() int { return len(e.records()) }

// records returns all trials of the tables.
func (e *Evidence) records() []record.Record {
	all, err := e.load()
	e.fail(err)
	recorded := map[string]bool{}
	for _, r := range all {
		recorded[r.Cell] = true
	}
	for _, c := range tableCells() {
		if !recorded[c.Key()] {
			some, _ := e.readOff(c)
			all = append(all, some...)
		}
	}
	return all
}

// ReadOff reports whether a table's cell is read off trainings, which the protocols have: its trials have a split
// each.
func ReadOff(c record.Cell) bool {
	return c.Resplit && !c.Cached && !c.History && c.ValidationPercent == 0 &&
		slices.Contains(judge.Models(), c.Parameters.Model) && slices.Contains(judge.Data(), c.Data)
}

// tableCells are the cells of all artifacts.
var tableCells = sync.OnceValue(func() []record.Cell { return CellsOf(Artifacts()) })

// readOff has the keys of those cells of the tables that can be read off trainings, and of what is trained for them.
var readOff = sync.OnceValue(func() (keys struct{ cells, trained map[string]bool }) {
	keys.cells, keys.trained = map[string]bool{}, map[string]bool{}
	for _, c := range tableCells() {
		if ReadOff(c) {
			keys.cells[c.Key()], keys.trained[c.Trained().Key()] = true, true
		}
	}
	return keys
})

// Table returns an artifact's results as a table; a chart's are the numbers that it draws. It returns an error if they
// cannot be read or compared.
func (e *Evidence) Table(a Artifact, o TableOptions) (plots.Table, error) {
	switch {
	case a.Tuned:
		return e.tunedTable(a)
	case a.IsChart():
		return a.Points(e.Records), e.Err()
	}
	return a.Table(e.Records, o), e.Err()
}

// once returns what is kept under a key, or makes it and keeps it.
func once[K comparable, V any](kept map[K]V, key K, made func() V) V {
	v, ok := kept[key]
	if !ok {
		v = made()
		kept[key] = v
	}
	return v
}

// cellsOf lists an artifact's cells, as [Artifact.Cells] does; each claim asks for them.
func (e *Evidence) cellsOf(a Artifact) []record.Cell { return once(e.cells, a.ID, a.Cells) }
