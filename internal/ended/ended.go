// Package ended reports why a context ended.
package ended

import (
	"context"
	"fmt"
	"io"
)

// Err returns nil while ctx is alive, then its error, joined with any cause (see [context.WithCancelCause]).
func Err(ctx context.Context) error {
	err := ctx.Err()
	if err == nil { // ctx may have ended since: do not ask for its cause
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

// Read reads from R, or returns [Err] once Ctx has ended.
func (r *Reader) Read(b []byte) (int, error) {
	if err := Err(r.Ctx); err != nil {
		return 0, err
	}
	return r.R.Read(b)
}
