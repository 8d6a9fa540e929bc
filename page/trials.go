package page

import (
	"encoding/json"
	"fmt"
	"strings"

	"nodemask/paper/record"
	"nodemask/paper/report"
)

// TrialsScriptName is the file name of the script from [TrialsScript].
const TrialsScriptName = "trials.js"

type recordedCell struct {
	Command string    `json:"command"`
	Seeds   []uint64  `json:"seeds"`
	F1      []float64 `json:"f1"` // macro F1 in percent, per seed
	Again   *again    `json:"again,omitempty"`
}

type again struct {
	Seed      uint64  `json:"seed"`
	SplitHash string  `json:"split_hash"`
	MacroF1   float64 `json:"macro_f1"`
	BestEpoch int     `json:"best_epoch"`
	Epochs    int     `json:"epochs"`
	Seconds   float64 `json:"seconds"`
}

// TrialsScript returns a script that holds, for each experiment of [report.Shown], its command, its recorded trials,
// and the trial that a page can rerun.
func TrialsScript(r *record.Results, pages *record.Store) ([]byte, error) {
	lines, err := pages.Load()
	if err != nil {
		return nil, err
	}
	ours := map[string]record.Record{}
	for _, one := range lines {
		ours[one.Cell] = one
	}
	all := map[string]recordedCell{}
	for _, c := range report.Shown() {
		key := report.Chosen(c)
		if key == "" {
			continue
		}
		trials := r.Trials(c)
		cell := recordedCell{Command: strings.TrimSuffix(c.Command(max(1, len(trials))), " --json")}
		for _, one := range trials {
			cell.Seeds, cell.F1 = append(cell.Seeds, one.Seed), append(cell.F1, float64(int(100*one.MacroF1+0.5))/100)
		}
		if one, ok := ours[c.Key()]; ok {
			cell.Again = &again{one.Seed, one.SplitHash, one.MacroF1, one.BestEpoch, one.Epochs, one.Seconds}
		}
		if len(cell.F1) > 0 || cell.Again != nil {
			all[key] = cell
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "window.nodemaskTrials = %s\n", text), nil
}
