// Package ended reports why a context ended.
package ended

import (
	"context"
	"fmt"
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
