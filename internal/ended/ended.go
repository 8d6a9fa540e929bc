// Package ended reports why a context ended.
package ended

import (
	"context"
	"fmt"
)

// Err returns nil while the context is alive, then its error; with a cause, as of [context.WithCancelCause], an error
// that is both.
func Err(ctx context.Context) error {
	err := ctx.Err()
	if err == nil { // do not ask for the cause: the context may have ended since
		return nil
	}
	cause := context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
