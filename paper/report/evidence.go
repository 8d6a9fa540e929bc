package report

import (
	"path/filepath"
	"slices"
	"sync"

	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
)

// Evidence holds the trials behind tables and verdicts. Protocols (paper/PROTOCOL*.md) are rules fixed before trials.
// Methods load trials when called: check [Evidence.Err] afterwards.
type Evidence struct {
	Records *record.Results
	// OnError, if set, receives each error in loading records.
	OnError func(error)

	load     func(...record.Pair) ([]record.Record, error)
	all      *record.Results // trials of PROTOCOL.md, on all interpretations of the paper
	cited    *record.Results // trials of PROTOCOL-2.md, which follows the paper and the works that it cites
	third    *record.Results // trials of PROTOCOL-3.md, on graphs unlike Cora
	answers  [][]judge.Answer
	verdicts map[string]Verdict // by claim ID
	err      error

	comparisons map[string]tunedComparison // by table ID
	cells       map[string][]record.Cell   // by artifact ID
}

// The folders of the protocols' trials (paper/PROTOCOL*.md).
const (
	FirstFolder  = "protocol-1"
	SecondFolder = "protocol-2"
	ThirdFolder  = "protocol-3"
)

// Open returns the evidence in a folder of results.
func Open(folder string) *Evidence {
	e := &Evidence{load: record.Open(folder).Load}
	part := func(name, protocol string) *record.Results {
		return record.OpenUnder(filepath.Join(folder, name), protocol).Results(e.fail)
	}
	e.all = part(FirstFolder, judge.FirstProtocol())
	e.cited = part(SecondFolder, judge.SecondProtocol())
	e.third = part(ThirdFolder, judge.ThirdProtocol())
	e.prepare()
	return e
}

func (e *Evidence) prepare() {
	e.verdicts = map[string]Verdict{}
	e.comparisons, e.cells = map[string]tunedComparison{}, map[string][]record.Cell{}
	e.Records = record.LazyResults(e.load, func(c record.Cell) []record.Record {
		records, _ := e.readOff(c)
		return records
	}, e.fail)
}

func (e *Evidence) readOff(c record.Cell) (records []record.Record, folder string) {
	if !ReadOff(c) {
		return nil, ""
	}
	folder, results, first, splits := SecondFolder, e.cited, uint64(judge.FirstSplit), uint64(judge.Splits)
	if judge.IsDepthCell(c) {
		folder, results, first, splits = FirstFolder, e.all, judge.FirstDepthSplit, judge.DepthSplits
	}
	// Trials with other seeds belong to tuned comparisons.
	records = slices.DeleteFunc(results.ReadOff(c), func(r record.Record) bool {
		return r.Seed < first || r.Seed >= first+splits
	})
	return records, folder
}

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

// Err returns the first error in loading records. After an error, output is incomplete: do not show it.
func (e *Evidence) Err() error { return e.err }

// Trials returns the number of trials behind all tables and figures.
func (e *Evidence) Trials() (n int) {
	for _, c := range tableCells() {
		n += len(e.Records.Trials(c))
	}
	return n
}

// ReadOff reports whether c needs no trials of its own, because its results are read off trials of PROTOCOL.md or
// PROTOCOL-2.md.
func ReadOff(c record.Cell) bool {
	return c.Resplit && !c.Cached && !c.History && c.ValidationPercent == 0 &&
		slices.Contains(judge.Models(), c.Parameters.Model) && slices.Contains(judge.Data(), c.Data)
}

var tableCells = sync.OnceValue(func() []record.Cell { return CellsOf(Artifacts()) })

// Table returns an artifact's table, or a chart's numbers as a table.
func (e *Evidence) Table(a Artifact) (plots.Table, error) {
	switch {
	case a.Tuned:
		return e.tunedTable(a)
	case a.IsChart():
		return a.Points(e.Records), e.Err()
	}
	return a.Table(e.Records), e.Err()
}

func once[K comparable, V any](kept map[K]V, key K, made func() V) V {
	v, ok := kept[key]
	if !ok {
		v = made()
		kept[key] = v
	}
	return v
}

func (e *Evidence) cellsOf(a Artifact) []record.Cell { return once(e.cells, a.ID, a.Cells) }
