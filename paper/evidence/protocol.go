package evidence

import (
	"nodemask/datasets"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
)

// CitedFolder is where the trajectories of the second protocol are, in a folder of results.
const CitedFolder = "cited"

// calibratedOn is the data set that readings are calibrated on.
const calibratedOn = "cora"

// Calibrate compares a model's readings without masking with the paper's columns, on Cora, by the protocol's rule.
// Without results for at least two splits there are no fits.
func Calibrate(results *record.Results, model string) (*multiverse.Calibration, error) {
	published := func(s datasets.Setting, trainPercent int) *float64 {
		return Published(calibratedOn, model, s, trainPercent, false)
	}
	return multiverse.Calibrate(results, calibratedOn, model, published, model == "gin")
}

// Ask returns the protocol's question of a model on a data set in a setting: all readings, on PubMed the calibrated
// ones. It returns an error for a model that has no readings.
func Ask(results *record.Results, data, model string, setting datasets.Setting) (multiverse.Question, error) {
	if data != "pubmed" {
		return askAmong(nil, data, model, setting)
	}
	c, err := Calibrate(results, model)
	if err != nil {
		return multiverse.Question{}, err
	}
	return askAmong(c, data, model, setting)
}

// askAmong is [Ask] with the model's calibration, which matters on PubMed alone.
func askAmong(c *multiverse.Calibration, data, model string, setting datasets.Setting) (multiverse.Question, error) {
	q, err := multiverse.Ask(data, model, setting)
	if data == "pubmed" {
		q.Among = c
	}
	return q, err
}
