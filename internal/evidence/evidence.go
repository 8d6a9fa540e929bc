package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/multiverse"
	"nodemask/paper"
	"nodemask/plots"
	"nodemask/record"
)

// Evidence is what claims are judged by: the trials of the paper's tables, in one reading of it, and what every reading
// gives. It reads and judges what it is asked for, when it is asked: [Evidence.Err] says whether it could be read.
type Evidence struct {
	Records *record.Results
	// OnError is called when something cannot be read, if it is set.
	OnError func(error)

	load     func(...record.Pair) ([]record.Record, error) // of pairs, or of all without pairs
	readings map[question]*Readings                        // nil: not all of them have been run
	fits     map[string]*multiverse.Calibration            // by model
	verdicts map[string]Verdict                            // by the claim's ID
	results  *multiverse.Results                           // of readings
	tables   []*multiverse.Results                         // those that tables show: the first that have a cell count
	all      *multiverse.Results                           // of the first protocol
	allCited *multiverse.Results                           // of the second protocol
	cited    *multiverse.Results                           // of its readings
	err      error

	comparisons map[string]tunedComparison // by the table's ID
}

// question names what readings are asked about.
type question struct {
	data, model string
	setting     datasets.Setting
}

// Readings holds what node masking does, or what another contrast is, in every reading of the paper that was asked
// about, for a model on a data set in a setting.
type Readings struct {
	All         *multiverse.Effects
	Calibration *multiverse.Calibration // on Cora
}

// MultiverseFolder is where the trajectories of all readings are, in a folder of results.
const MultiverseFolder = "multiverse"

// Open returns what a folder of results says. Of its files it reads those that hold what is asked for, the
// first time.
func Open(folder string) *Evidence {
	e := &Evidence{load: record.OpenStore(folder).Load}
	part := func(name, protocol string) *multiverse.Results {
		return multiverse.LazyResults(record.OpenTrajectories(filepath.Join(folder, name), protocol).ByCell(nil), e.fail)
	}
	e.all, e.allCited = part(MultiverseFolder, paper.ProtocolHash()), part(CitedFolder, paper.CitedProtocolHash())
	e.prepare()
	shown := func(name, protocol string) *multiverse.Results {
		store := record.OpenTrajectories(filepath.Join(folder, name), protocol)
		return multiverse.LazyResults(store.ByCell(func(key string) bool { return readOff().trained[key] }), e.fail)
	}
	e.tables = []*multiverse.Results{cited.OfReadings(shown(CitedFolder, paper.CitedProtocolHash())),
		shown(MultiverseFolder, paper.ProtocolHash()).OfReadings()}
	return e
}

// OpenRecords reads the trials of the tables from a folder of results. Errors are those of files that cannot be read.
func OpenRecords(folder string) (*record.Results, error) {
	e := Open(folder)
	records := e.records()
	return record.NewResults(records), e.Err()
}

// NewEvidence collects trials. Readings count where each of them has all splits of the protocol. It returns an error
// for trajectories that were run under other rules than PROTOCOL.md's and PROTOCOL-2.md's.
func NewEvidence(records []record.Record, trajectories []record.Trajectory) (*Evidence, error) {
	of := map[string][]record.Trajectory{paper.ProtocolHash(): nil, paper.CitedProtocolHash(): nil}
	for _, t := range trajectories {
		if _, known := of[t.Protocol]; !known {
			return nil, fmt.Errorf("a trajectory of %s on %s under protocol %.20q: expected %s or %s, the hashes of "+
				"paper/PROTOCOL.md and paper/PROTOCOL-2.md; run it again", t.Model, t.Data, t.Protocol, paper.ProtocolHash(),
				paper.CitedProtocolHash())
		}
		of[t.Protocol] = append(of[t.Protocol], t)
	}
	e := &Evidence{load: func(pairs ...record.Pair) (some []record.Record, err error) {
		for _, r := range records {
			if len(pairs) == 0 || slices.Contains(pairs, r.CellOf().Pair()) {
				some = append(some, r)
			}
		}
		return some, nil
	}}
	var err error
	if e.allCited, err = multiverse.NewResults(of[paper.CitedProtocolHash()]); err != nil {
		return nil, err
	}
	if e.all, err = multiverse.NewResults(of[paper.ProtocolHash()]); err != nil {
		return nil, err
	}
	e.prepare()
	return e, nil
}

// prepare sets what is read and judged later.
func (e *Evidence) prepare() {
	e.readings, e.fits, e.verdicts = map[question]*Readings{}, map[string]*multiverse.Calibration{}, map[string]Verdict{}
	e.comparisons = map[string]tunedComparison{}
	// Depth and the tuned comparisons have splits and models of their own.
	e.results, e.cited = e.all.OfReadings(), cited.OfReadings(e.allCited)
	e.tables = []*multiverse.Results{e.cited, e.results}
	e.Records = record.LazyResults(func(p record.Pair) []record.Record {
		records, err := e.load(p)
		e.fail(err)
		return records
	}, e.readOff)
}

// readOff returns what trajectories have of a cell of the tables with a split for each trial.
func (e *Evidence) readOff(c record.Cell) []record.Record {
	if !readOff().cells[c.Key()] {
		return nil
	}
	var records []record.Record
	for i := 0; i < len(e.tables) && len(records) == 0; i++ {
		trials, err := e.tables[i].Of(c)
		e.fail(err)
		for _, t := range trials {
			records = append(records, t.Record(c))
		}
	}
	return records
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
			all = append(all, e.readOff(c)...)
		}
	}
	return all
}

// ReadOff reports whether a table's cell is read off trajectories, which the protocols have: its trials have a split
// each.
func ReadOff(c record.Cell) bool {
	return c.Resplit && !c.Cached && !c.History && c.ValidationPercent == 0 &&
		slices.Contains(cited.Models(), c.Parameters.Model) && slices.Contains(cited.Data(), c.Data)
}

// tableCells are the cells of all artifacts.
var tableCells = sync.OnceValue(func() []record.Cell { return CellsOf(Artifacts()) })

// readOff has the keys of those cells of the tables that can be read off trajectories, and of what is trained for them.
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

// Readings returns what every reading gives for a model on a data set in a setting, and whether they have all been run.
func (e *Evidence) Readings(data, model string, setting datasets.Setting) (*Readings, bool) {
	q := question{data, model, setting}
	r, asked := e.readings[q]
	if !asked {
		var err error
		if r, err = e.ask(q); err != nil {
			e.fail(err)
		}
		e.readings[q] = r
	}
	return r, r != nil
}

// ask returns what every reading gives, or nil if not all of them have been run.
func (e *Evidence) ask(q question) (*Readings, error) {
	if _, err := multiverse.AxesOf(q.model); err != nil {
		return nil, nil // the paper does not have it
	}
	calibration, err := e.calibration(q.model)
	if err != nil {
		return nil, err
	}
	ask, err := askAmong(calibration, q.data, q.model, q.setting)
	if err != nil {
		return nil, err
	}
	effects, err := e.results.Effects(ask)
	if err != nil || len(effects.Effects) == 0 || len(effects.Splits) < multiverse.Splits {
		return nil, err
	}
	return &Readings{All: effects, Calibration: calibration}, nil
}

// calibration returns a model's calibration, made once.
func (e *Evidence) calibration(model string) (c *multiverse.Calibration, err error) {
	if e.fits[model] == nil {
		e.fits[model], err = Calibrate(e.results, model)
	}
	return e.fits[model], err
}
