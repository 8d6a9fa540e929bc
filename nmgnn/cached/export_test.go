package cached

// LargestBatch is how many nodes a predictor computes at once, unless more of them are linked.
const LargestBatch = largestBatch

// Batches divides nodes into batches.
func Batches(linked [][]int32) [][]int32 { return batches(linked) }

// Programs returns how many programs the predictor has compiled.
func (p *Predictor) Programs() int { return len(p.programs) }
