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

// Others that save in a folder are waited for so long, and asked so often.
const (
	patience = time.Minute
	often    = 20 * time.Millisecond
)

// Hold waits until no other process holds the folder of path, and holds it until release is called or the process ends:
// so that several files that belong together are all of one process. Where folders cannot be locked, it returns at
// once. It returns an error if another process holds the folder for a minute, or ctx is done.
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
	return func() { _ = held.Close() }, nil // what was saved is there
}
