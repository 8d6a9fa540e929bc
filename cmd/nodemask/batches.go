package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/record"
)

type batchFlags struct {
	on       bool
	clusters int
	memory   string
	keep     string

	limit int64
	said  train.Estimate
}

// batchedRecord is not stored: stored cells train on whole graphs.
type batchedRecord struct {
	record.Record
	Batches int `json:"batches"`
}

func (f *batchFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.clusters, "batches", 0, "train on so many clusters of nodes, one after the other; neighbours in "+
		"other clusters come from cached representations, in $TMPDIR (1: the whole graph at once)")
	flags.StringVar(&f.memory, "memory", "", "choose --batches such that training takes at most this much memory, such "+
		"as 2GiB")
	flags.StringVar(&f.keep, "checkpoint", "", "folder for what a trial in batches had after each epoch: the same "+
		"command goes on from there")
}

func (f *trainFlags) checkBatches(c *cobra.Command, p hyper.Parameters) (err error) {
	b := &f.batched
	b.on = c.Flags().Changed("batches") || b.memory != ""
	switch {
	case !b.on && b.keep != "":
		return misusef("--checkpoint: expected --batches or --memory too")
	case !b.on:
		return nil
	case b.clusters < 0 || c.Flags().Changed("batches") && b.clusters == 0:
		return misusef("--batches %d: expected 1 or more", b.clusters)
	case p.Regulariser == hyper.DropGNNRegulariser:
		return misusef("--regulariser dropgnn in batches: it masks nodes in testing too, which batches do not: expected " +
			"another regulariser")
	case f.jobs > 1:
		return misusef("--jobs %d: trials in batches run one after the other", f.jobs)
	case b.memory != "":
		if b.limit, err = memory.Parse(b.memory); err != nil {
			return misusef("--memory %s: %w", b.memory, err)
		}
	}
	return nil
}

func (f *batchFlags) runner(c *cobra.Command, x train.Experiment) (runFunc, error) {
	o := train.Batches{Clusters: f.clusters, Memory: f.limit, Checkpoint: f.keep,
		Version: record.Version(),
		Said: func(e train.Estimate) {
			f.said = e
			fmt.Fprintln(c.ErrOrStderr(), e)
		}}
	if o.Clusters != 1 {
		var err error
		if o.Release, err = train.Spill(x.Graph, ""); err != nil {
			return nil, err
		}
		debug.SetGCPercent(25) // each batch leaves garbage
		debug.FreeOSMemory()
	}
	return func(ctx context.Context, b *backend.Backend, seeds []uint64, r train.RunOptions) ([]*train.Result, error) {
		return train.InBatches(ctx, b, x, o, seeds, r)
	}, nil
}
