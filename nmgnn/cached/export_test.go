package cached

// LargestBatch is how many nodes a predictor computes at once.
const LargestBatch = largestBatch

// Programs returns how many programs the predictor has compiled.
func (p *Predictor) Programs() int { return len(p.programs) }
