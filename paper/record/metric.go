package record

import "nodemask/stats"

// Metric names a value of a record.
type Metric string

// The metrics. F1 and accuracy are in percent.
const (
	MacroF1         Metric = "macro F1"
	MicroF1         Metric = "micro F1"
	Accuracy        Metric = "accuracy"
	AUC             Metric = "AUC"                          // with two classes
	MacroF1Together Metric = "macro F1 with caching"        // new nodes see one another
	MacroF1Apart    Metric = "macro F1 with caching, apart" // new nodes do not see one another
	MADHidden       Metric = "MAD of the last hidden representation"
	MADLogits       Metric = "MAD of the logits"
	MADSoftmax      Metric = "MAD of the class probabilities"
	Nodes           Metric = "#nodes"
	NodesReached    Metric = "#nodes reached"
	NodesCached     Metric = "#nodes with caching"
)

// Of returns the metric's value in r, and whether r has one.
func (m Metric) Of(r Record) (float64, bool) {
	var mad stats.Smoothness
	if r.MAD != nil {
		mad = *r.MAD
	}
	switch m {
	case MacroF1:
		return r.MacroF1, true
	case MicroF1:
		return r.MicroF1, r.whole()
	case Accuracy:
		return r.Accuracy, r.whole()
	case AUC:
		return measured(r.AUC)
	case MacroF1Together:
		return measured(r.MacroF1Together)
	case MacroF1Apart:
		return measured(r.MacroF1Apart)
	case MADHidden:
		return mad.Hidden, r.MAD != nil
	case MADLogits:
		return mad.Logits, r.MAD != nil
	case MADSoftmax:
		return mad.Softmax, r.MAD != nil
	case Nodes:
		return float64(r.Nodes), r.Nodes > 0
	case NodesReached:
		return float64(r.NodesReached), r.NodesReached > 0
	case NodesCached:
		return float64(r.NodesCached), r.NodesCached > 0
	}
	return 0, false
}

// whole returns false for records from [Record.As], which lack accuracy and micro F1.
func (r Record) whole() bool { return r.Accuracy > 0 || r.MacroF1 == 0 }

func measured(score *float64) (float64, bool) {
	if score == nil {
		return 0, false
	}
	return *score, true
}

// Digits returns the number of decimals to print.
func (m Metric) Digits() int {
	if m == Nodes || m == NodesReached || m == NodesCached {
		return 0
	}
	return 2
}
