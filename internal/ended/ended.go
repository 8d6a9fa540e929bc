// Package ended reports why a context ended.
package ended

import (
	"context"
	"fmt"
	"io"
)

// Err returns nil until ctx ends, then ctx's error, joined with any cause (see [context.WithCancelCause]).
func Err(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Reader reads R until Ctx ends.
type Reader struct {
	Ctx context.Context
	R   io.Reader
}

// Read reads from R. Once Ctx has ended, Read returns the error from [Err].
func (r *Reader) Read(b []byte) (int, error) {
	if err := Err(r.Ctx); err != nil {
		return 0, err
	}
	return r.R.Read(b)
}
