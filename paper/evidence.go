package paper

import (
	"fmt"
	"path/filepath"
	"slices"

	"nodemask/datasets"
	"nodemask/paper/multiverse"
	"nodemask/plots"
	"nodemask/record"
)

// Evidence is what claims are judged by: the trials of the paper's tables, in one reading of it, and what every reading gives.
type Evidence struct {
	Records  *record.Results
	Trials   int // of the tables
	readings map[question]*Readings
	tuned    []multiverse.Tuned  // those that every arm has run
	cited    *multiverse.Results // of the second protocol
}

// question names what readings are asked about.
type question struct {
	data, model string
	setting     datasets.Setting
}

// Readings holds what node masking does, or what another contrast is, in every reading of the paper that was asked about, for a model
// on a data set in a setting.
type Readings struct {
	All         *multiverse.Effects
	Calibration *multiverse.Calibration // on Cora
}

// MultiverseFolder is where the trajectories of all readings are, in a folder of results.
const MultiverseFolder = "multiverse"

// OpenEvidence reads a folder of results. Errors are those of files that cannot be read, and of [NewEvidence].
func OpenEvidence(folder string) (*Evidence, error) {
	records, trajectories, err := load(folder)
	if err != nil {
		return nil, err
	}
	return NewEvidence(records, trajectories)
}

// OpenRecords reads the trials of the tables from a folder of results. Errors are those of files that cannot be read.
func OpenRecords(folder string) (*record.Results, error) {
	records, trajectories, err := load(folder)
	if err != nil {
		return nil, err
	}
	first, second, err := byProtocol(trajectories)
	if err != nil {
		return nil, err
	}
	if records, err = withTrajectories(records, second, first.OfReadings()); err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	return record.NewResults(records), nil
}

func load(folder string) ([]record.Record, []record.Trajectory, error) {
	records, err := record.OpenStore(folder).Load()
	if err != nil {
		return nil, nil, err
	}
	var trajectories []record.Trajectory
	for _, name := range []string{MultiverseFolder, CitedFolder} {
		some, err := record.OpenTrajectories(filepath.Join(folder, name)).Load()
		if err != nil {
			return nil, nil, err
		}
		trajectories = append(trajectories, some...)
	}
	return records, trajectories, nil
}

// NewEvidence collects trials. Readings count where each of them has all splits of the protocol; until then claims rest on the
// records alone. It returns an error for trajectories that were run under other rules than PROTOCOL.md's and PROTOCOL-2.md's.
func NewEvidence(records []record.Record, trajectories []record.Trajectory) (*Evidence, error) {
	all, second, err := byProtocol(trajectories)
	if err != nil {
		return nil, err
	}
	asked := map[question]bool{}
	for _, t := range trajectories {
		if t.Protocol == ProtocolHash() && multiverse.IsReading(t) {
			asked[question{t.Data, t.Model, t.Setting}] = true
		}
	}
	results := all.OfReadings() // depth and the tuned comparison have splits and models of their own
	if records, err = withTrajectories(records, second, results); err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	e := &Evidence{Records: record.NewResults(records), Trials: len(records), readings: map[question]*Readings{}, cited: second}
	if e.tuned, err = tuned(all); err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	calibrations := map[string]*multiverse.Calibration{}
	for q := range asked {
		ask, err := Ask(results, q.data, q.model, q.setting)
		if err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		effects, err := results.Effects(ask)
		if err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		if len(effects.Effects) == 0 || len(effects.Splits) < multiverse.Splits {
			continue
		}
		if calibrations[q.model] == nil {
			if calibrations[q.model], err = Calibrate(results, q.model); err != nil {
				return nil, fmt.Errorf("paper: %w", err)
			}
		}
		e.readings[q] = &Readings{All: effects, Calibration: calibrations[q.model]}
	}
	return e, nil
}

// byProtocol sorts trajectories into those of PROTOCOL.md and of PROTOCOL-2.md. Those of other rules are an error.
func byProtocol(trajectories []record.Trajectory) (first, second *multiverse.Results, err error) {
	of := map[string][]record.Trajectory{ProtocolHash(): nil, CitedProtocolHash(): nil}
	for _, t := range trajectories {
		if _, known := of[t.Protocol]; !known {
			return nil, nil, fmt.Errorf("paper: a trajectory of %s on %s under protocol %.20q: expected %s or %s, the hashes of "+
				"paper/PROTOCOL.md and paper/PROTOCOL-2.md; run it again", t.Model, t.Data, t.Protocol, ProtocolHash(), CitedProtocolHash())
		}
		of[t.Protocol] = append(of[t.Protocol], t)
	}
	if first, err = multiverse.NewResults(of[ProtocolHash()]); err != nil {
		return nil, nil, fmt.Errorf("paper: %w", err)
	}
	if second, err = multiverse.NewResults(of[CitedProtocolHash()]); err != nil {
		return nil, nil, fmt.Errorf("paper: %w", err)
	}
	return first, second, nil
}

// ReadOff reports whether all that is shown of a table's cell can be read off a trajectory: its trials have a split each.
func ReadOff(c record.Cell) bool { return c.Resplit && !c.Cached && !c.History }

// withTrajectories adds to records what trajectories have of the tables' cells with a split for each trial, where no record has the
// cell: those of the first results that have any.
func withTrajectories(records []record.Record, results ...*multiverse.Results) ([]record.Record, error) {
	recorded := map[string]bool{}
	for _, r := range records {
		recorded[r.Cell] = true
	}
	for _, c := range CellsOf(Artifacts()) {
		if !ReadOff(c) || recorded[c.Key()] {
			continue
		}
		var all []record.Trajectory
		for i := 0; i < len(results) && len(all) == 0; i++ {
			all = results[i].Of(c)
		}
		for _, t := range all {
			read, err := t.Records()
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(read, func(r record.Record) bool { return r.Cell == c.Key() })
			if i >= 0 {
				records = append(records, read[i])
			}
		}
	}
	return records, nil
}

// Table returns an artifact's results as a table; a chart's are the numbers that it draws. It returns an error if they cannot be
// compared.
func (e *Evidence) Table(a Artifact, o TableOptions) (plots.Table, error) {
	switch {
	case a.Tuned:
		return e.tunedTable(a)
	case a.IsChart():
		return a.Points(e.Records), nil
	}
	return a.Table(e.Records, o), nil
}

// Readings returns what every reading gives for a model on a data set in a setting, and whether they have all been run.
func (e *Evidence) Readings(data, model string, setting datasets.Setting) (*Readings, bool) {
	r, found := e.readings[question{data, model, setting}]
	return r, found
}
