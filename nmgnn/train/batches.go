package train

import (
	"fmt"

	"nodemask/csr"
	"nodemask/nmgnn"
)

// Batches configure how to divide the training graph. The zero value does not divide it.
type Batches struct {
	// Clusters of the train graph; 0: 1. Larger validation and test graphs get proportionally more.
	Clusters int
	// Memory limits the bytes of [InBatches], by adding clusters if needed. 0: no limit.
	Memory int64
	// Said, if not nil, receives the estimate from [InBatches] before training.
	Said func(Estimate)
	// Folder is for temporary files of representations and features; "": the system's.
	Folder string
	// Checkpoint is a folder where a trial is saved after each epoch and from which it resumes, with identical results;
	// "": none.
	Checkpoint string
	// Version of the program, required with Checkpoint: other versions refuse the checkpoint.
	Version string
	// Release is [Spill]'s result, called after reading the graph; may be nil.
	Release func()

	training options                  // from the experiment's parameters
	identity string                   // identifies data and settings in checkpoints
	clusters map[*csr.Graph][][]int32 // already computed
}

func (o Batches) divided() bool { return o.Clusters > 1 }

func (o Batches) check() error {
	if o.Clusters < 0 {
		return fmt.Errorf("%d clusters: expected 1 or more", o.Clusters)
	}
	if o.Memory < 0 {
		return fmt.Errorf("%d bytes of memory: expected 1 or more, or 0 for no limit", o.Memory)
	}
	if _, ok := o.training.regulariser().(nmgnn.DropEdge); ok && o.divided() {
		return fmt.Errorf("DropEdge drops both directions of an edge alike, and the ends of an edge may be in two batches: " +
			"expected another regulariser, or one cluster")
	}
	if _, ok := o.training.regulariser().(nmgnn.DropGNN); ok {
		return fmt.Errorf("DropGNN masks nodes in testing too, which batches do not: expected another regulariser")
	}
	return nil
}
