// Package batches trains on graphs that are larger than memory: on clusters of nodes, one after the other. What nodes
// of a batch read of others comes from cached representations, as in section 4 of the paper: a neighbour u outside the
// batch gives h̃_u^(i), which was computed in the epoch before, instead of having its own neighbourhood computed again
// (GNNAutoScale trains like that: Fey et al. 2021). Features, h^(0), are always those of the nodes. A masked node
// contributes nothing, and needs no cached representation.
//
// All batches share one compiled program, whose inputs have room for the largest of them. Features and cached
// representations are in files that are mapped into memory; a batch gathers the rows that it reads. Between epochs,
// validation goes layer by layer over all batches, and approximates nothing.
//
// One cluster is the whole graph, and trains to the last digit as package train does.
package batches

import (
	"fmt"

	"nodemask/csr"
	"nodemask/nmgnn"
	"nodemask/nmgnn/train"
)

// Options say how to divide what is trained on. The zero value trains on the whole graph.
type Options struct {
	// Clusters of the train graph; 0: 1. Graphs of validation and test have as many more as they are larger.
	Clusters int
	// Memory limits what [Run] takes, in bytes: it takes Clusters, or as many more as that needs. 0: nothing limits it.
	Memory int64
	// Said is called by [Run] with what training is expected to take, before it begins; nil: nobody is told.
	Said func(Estimate)
	// Folder is where cached representations and features are kept while training runs; "": the system's for temporary
	// files.
	Folder string
	// Checkpoint is a folder for what a trial had after its last epoch, and its cached representations: a trial that finds
	// its own there goes on from it, to the same numbers. "": nothing is kept.
	Checkpoint string
	// Version of the program, which [Run] needs for checkpoints: those of another version are refused.
	Version string
	// Release is called when a batch has read something of the graph: it is what [Spill] returned. nil: nothing is.
	Release func()

	training train.Options            // what the experiment's parameters say
	identity string                   // tells checkpoints of other data or settings apart
	clusters map[*csr.Graph][][]int32 // that are known already
}

// divided reports whether a batch is less than the graph.
func (o Options) divided() bool { return o.Clusters > 1 }

// check validates the options.
func (o Options) check() error {
	if o.Clusters < 0 {
		return fmt.Errorf("%d clusters: expected 1 or more", o.Clusters)
	}
	if o.Memory < 0 {
		return fmt.Errorf("%d bytes of memory: expected 1 or more, or 0 for no limit", o.Memory)
	}
	if _, ok := o.training.Regulariser.(nmgnn.DropEdge); ok && o.divided() {
		return fmt.Errorf("DropEdge drops both directions of an edge alike, and the ends of an edge may be in two batches: " +
			"expected another regulariser, or one cluster")
	}
	if _, ok := o.training.Regulariser.(nmgnn.DropGNN); ok {
		return fmt.Errorf("DropGNN masks nodes in testing too, which batches do not: expected another regulariser")
	}
	return nil
}
