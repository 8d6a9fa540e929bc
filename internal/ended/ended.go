// Package ended says why a context has ended.
package ended

import (
	"context"
	"fmt"
)

// Err returns nil while the context goes on, then its error; with a cause of its own, as of
// [context.WithCancelCause], one that is both.
func Err(ctx context.Context) error {
	err := ctx.Err()
	if err == nil { // and its cause is not asked for: it may have ended since
		return nil
	}
	cause := context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
