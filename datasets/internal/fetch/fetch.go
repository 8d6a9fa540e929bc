// Package fetch downloads files over https: complete or not at all, resuming earlier tries, checked by SHA-256.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
)

// Options says how to download; see datasets.FetchOptions.
type Options struct {
	Client   *http.Client
	Progress func(file string, done, total int64)
	Note     func(line string)

	// Set by tests.
	retries int // of a failed request; 0: 4, negative: none
	wait    func(ctx context.Context, d time.Duration) error
	open    func(path string) (part, error) // to simulate a full disk
	silence time.Duration                   // how long a server may send nothing
}

type part interface {
	io.Writer
	io.Seeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Source is a file's address, size and checksums.
type Source struct {
	URL    string
	Size   int64  // bytes; 0: unknown
	SHA256 string // hex; "": unknown, so only recorded
	Git    string // git's hex id, for an unknown SHA-256; "": unknown too
}

// expected returns a file's right SHA-256 (sum, if git's id agrees); "" if unknown.
func (s Source) expected(ctx context.Context, path, sum string, size int64) (string, error) {
	if s.SHA256 != "" || s.Git == "" {
		return s.SHA256, nil
	}
	id, err := GitID(ctx, path, size)
	if err == nil && id == s.Git {
		return sum, nil
	}
	return "that of git's object " + s.Git, err
}

// Fetcher gets files. Make it with [New].
type Fetcher struct{ o Options }

// New returns a fetcher.
func New(o Options) *Fetcher {
	if o.Client == nil {
		o.Client = defaultClient()
	}
	client := *o.Client
	client.CheckRedirect = onlyHTTPS
	o.Client = &client
	o.retries = cmp.Or(o.retries, 4)
	o.silence = cmp.Or(o.silence, maxSilence)
	if o.wait == nil {
		o.wait = wait
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.open == nil {
		o.open = func(path string) (part, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666) }
	}
	return &Fetcher{o}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ended.Err(ctx)
	case <-timer.C:
		return nil
	}
}

// Lock creates a folder if needed, and excludes other fetches until unlock.
func Lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("no folder for data can be made: %w: choose another by NODEMASK_DATA", err)
	}
	lock := flock.New(filepath.Join(dir, ".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR)) // does not wait for a pipe
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lock.Path(), err)
	}
	if !locked {
		return nil, fmt.Errorf("%s: another fetch into this folder is running: wait for it to end", dir)
	}
	return lock.Unlock, nil
}

// Get downloads a file to path unless a complete one exists. It resumes a broken download; the file gets its name only
// once its SHA-256 matches.
func (f *Fetcher) Get(ctx context.Context, path string, source Source) error {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if sum, size, err := Sum(ctx, path); err == nil {
		want, err := source.expected(ctx, path, sum, size)
		switch {
		case err != nil:
			return err
		case want == "":
			f.note("%s: already there, %d bytes, SHA-256 %s", name, size, sum)
			return RemoveParts(path)
		case sum == want:
			f.note("%s: already there, SHA-256 matches", name)
			return RemoveParts(path) // left by a killed fetch
		}
		f.note("%s: there, but its SHA-256 does not match: fetching it again", name)
	}
	part := partFile(path)
	for restarted := false; ; restarted = true {
		if err := f.download(ctx, part, name, source); err != nil {
			return err
		}
		sum, size, err := Sum(ctx, part)
		if err != nil {
			return err
		}
		want, err := source.expected(ctx, part, sum, size)
		if err != nil {
			return err
		}
		if want == "" {
			f.note("%s: %d bytes, SHA-256 %s (none is published to hold it against)", name, size, sum)
			break
		}
		if sum == want {
			break
		}
		if err := errors.Join(os.Remove(part), removeIfThere(validatorFile(part))); err != nil {
			return err
		}
		// An earlier run's part may be to blame: restart once.
		if restarted {
			return fmt.Errorf("%s: %s: SHA-256 of what the server sent is %s: expected %s. Nothing was kept. Another network "+
				"or another server may help", path, source.URL, sum, want)
		}
		f.note("%s: SHA-256 does not match: fetching it again from the start", name)
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return errors.Join(removeIfThere(validatorFile(part)), syncDir(dir))
}

func (f *Fetcher) note(format string, args ...any) { f.o.Note(fmt.Sprintf(format, args...)) }

// RemoveParts removes what killed fetches left of a file, in a locked folder.
func RemoveParts(path string) error {
	return errors.Join(removeIfThere(partFile(path)), removeIfThere(validatorFile(partFile(path))))
}

func partFile(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes a rename durable, if the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

func validatorFile(part string) string { return part + ".version" }

func writeValidator(part, validator string) error {
	if validator == "" {
		return removeIfThere(validatorFile(part))
	}
	return wholefile.WriteBytes(validatorFile(part), 0o644, []byte(validator))
}
