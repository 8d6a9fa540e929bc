package wholefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// How long, and how often, to wait for others that save in a folder.
const (
	patience = time.Minute
	often    = 20 * time.Millisecond
)

// Hold waits until no other process holds the folder of path, then holds it until release or the end of the process, so
// that files that belong together come from one process. Without folder locks it returns at once. It returns an error
// after a minute, or when ctx is done.
func Hold(ctx context.Context, path string) (release func(), err error) {
	folder := filepath.Dir(path)
	held := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = held.TryLockContext(limited, often)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), held.Close())
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.Join(fmt.Errorf("another process has been saving in %s for %v: end it, or choose another folder",
			folder, patience), held.Close())
	}
	return func() { _ = held.Close() }, nil // writes are synced already
}
