package cached

// LargestBatch exports largestBatch.
const LargestBatch = largestBatch

// Batches exports batches.
func Batches(linked [][]int32) [][]int32 { return batches(linked) }

// Programs returns the number of compiled programs.
func (p *Predictor) Programs() int { return len(p.programs) }
