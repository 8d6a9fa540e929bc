package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"nodemask/datasets"
	"nodemask/plots"
)

// ReadingsID names the plot of masking's effect in every possible interpretation ("reading") of the paper.
// ReadingsFile, in the folder of results, holds the plotted effects.
const (
	ReadingsID   = "readings"
	ReadingsFile = "readings.csv"
)

// DrawReadings draws masking's effect on GIN, on Cora and CiteSeer, in each interpretation of the paper. It reads
// effects from file, in the format of [ReadingsFile].
func DrawReadings(file io.Reader) (plots.Panels, error) {
	p := plots.Panels{ID: ReadingsID, Title: "What node masking changes in every reading of the paper's text",
		XLabel: "readings, sorted by effect (%)", YLabel: "points gained",
		Caption: "GIN; exploratory, under PROTOCOL.md. Each reading's effect is the mean over 10, 25, 50 and 90 % to train " +
			"on; the band has the 95 % intervals over ten splits."}
	in := csv.NewReader(file)
	in.FieldsPerRecord = 16 // model, data, setting, ten choices in reading the paper, effect, ends of its interval
	rows, err := in.ReadAll()
	if err != nil {
		return p, fmt.Errorf("%s: %w", ReadingsFile, err)
	}
	for _, setting := range datasets.Settings() {
		var row []plots.Chart
		for _, data := range []string{"cora", "citeseer"} {
			var effects [][3]float64
			for i, fields := range rows {
				if !slices.Equal(fields[:3], []string{"gin", data, string(setting)}) {
					continue
				}
				var effect [3]float64
				for k := range effect {
					if effect[k], err = strconv.ParseFloat(fields[13+k], 64); err != nil {
						return p, fmt.Errorf("%s: line %d: %w", ReadingsFile, i+1, err)
					}
				}
				effects = append(effects, effect)
			}
			slices.SortFunc(effects, func(a, b [3]float64) int { return slices.Compare(a[:], b[:]) })
			s := plots.Series{Name: "each reading, with its interval", HideMarkers: true}
			above := 0
			for i, e := range effects {
				s.X, s.Y = append(s.X, 100*float64(i)/float64(len(effects)-1)), append(s.Y, e[0])
				s.Low, s.High = append(s.Low, e[1]), append(s.High, e[2])
				if e[0] > 0 {
					above++
				}
			}
			row = append(row, plots.Chart{ID: fmt.Sprintf("%s-%s-%s", ReadingsID, data, setting), Series: []plots.Series{s},
				Title: fmt.Sprintf("%s, %s: %d of %d above 0", DataTitle(data), nodesOf(setting), above, len(effects))})
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}
