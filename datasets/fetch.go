package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// FetchOptions says how files are downloaded. The zero value is what a user wants.
type FetchOptions struct {
	// Dir gets a folder of the data set's name. "": $NODEMASK_DATA, or else the user's cache folder (see [OpenOptions]).
	Dir string
	// Client does the requests. Nil: one that wants TLS 1.2 and gives up on a silent server. Redirects are followed
	// only to https in any case.
	Client *http.Client
	// Mirror is a folder on the web, starting with https://, that has the same files. "": the catalogue's addresses.
	Mirror string
	// Retries is how often a failed request is repeated. 0: 4 times; negative: never.
	Retries int
	// Backoff is the pause before the nth repeat, counted from 1. Nil: 1, 2, 4… seconds, 30 at most.
	Backoff func(n int) time.Duration
	// Wait pauses, or returns the context's error if that is done first. Nil: by the clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Progress is called as bytes of a file arrive; total is -1 if the server does not say. Nil: not at all.
	Progress func(file string, done, total int64)
	// Note gets lines worth telling: files already there, repeats, checksums of what has none published. Nil: dropped.
	Note func(line string)

	open    func(path string) (partFile, error) // tests: a disk that fills up
	silence time.Duration                       // tests: how long a server may send nothing
}

// partFile is a file being written.
type partFile interface {
	io.Writer
	io.Seeker
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Fetch downloads the files of a known data set into a folder of its name and returns that folder. Files that are there
// and whole are kept. A broken download is kept beside its final name and continued, now or by the next Fetch; a file
// appears under its final name only after its SHA-256 matched. Only https is spoken. Two fetches into one folder
// exclude each other. It returns a [*NameError] for a name that is unknown or needs no files.
func Fetch(ctx context.Context, name string, o FetchOptions) (dir string, err error) {
	info, err := lookup(name)
	if err != nil {
		return "", err
	}
	if !info.downloadable() {
		return "", &NameError{Name: name, Problem: "nothing to fetch: it is generated when it is opened"}
	}
	folders := OpenOptions{Dir: o.Dir}.folders()
	if len(folders) == 0 {
		return "", fmt.Errorf("%s: no folder to put it: this system names no cache folder; give one by --data-dir or NODEMASK_DATA", name)
	}
	dir = filepath.Join(folders[0], info.Name)
	return dir, fetchInto(ctx, dir, info, o)
}

func fetchInto(ctx context.Context, dir string, info Info, o FetchOptions) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, ".lock"))
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("%s: %w", lock.Path(), err)
	}
	if !locked {
		return fmt.Errorf("%s: another fetch into this folder is running: wait for it to end", dir)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	f := newFetcher(o)
	if info.Archive != nil {
		return f.archive(ctx, dir, info)
	}
	for _, file := range info.Files {
		if err := f.file(ctx, dir, file); err != nil {
			return err
		}
	}
	return nil
}

// fetcher is FetchOptions with its defaults filled in.
type fetcher struct{ FetchOptions }

func newFetcher(o FetchOptions) *fetcher {
	if o.Client == nil {
		o.Client = defaultClient()
	}
	client := *o.Client
	client.CheckRedirect = onlyHTTPS
	o.Client = &client
	if o.Retries == 0 {
		o.Retries = 4
	}
	if o.Backoff == nil {
		o.Backoff = func(n int) time.Duration { return min(time.Second<<min(n-1, 10), 30*time.Second) }
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.open == nil {
		o.open = func(path string) (partFile, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666) }
	}
	if o.silence == 0 {
		o.silence = maxSilence
	}
	return &fetcher{o}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// file downloads one file unless it is there and whole.
func (f *fetcher) file(ctx context.Context, dir string, file File) error {
	final := filepath.Join(dir, file.Name)
	if sum, size, err := sumFile(ctx, final); err == nil {
		switch {
		case file.SHA256 == "":
			f.Note(fmt.Sprintf("%s: already there, %d bytes, SHA-256 %s", file.Name, size, sum))
			return nil
		case sum == file.SHA256:
			f.Note(file.Name + ": already there, SHA-256 matches")
			return nil
		}
		f.Note(file.Name + ": there, but its SHA-256 does not match: fetching it again")
	}
	if f.Mirror != "" {
		file.URL = strings.TrimSuffix(f.Mirror, "/") + "/" + file.Name
	}
	part := filepath.Join(dir, "."+file.Name+".part")
	for restarted := false; ; restarted = true {
		if err := f.download(ctx, part, file); err != nil {
			return err
		}
		sum, size, err := sumFile(ctx, part)
		if err != nil {
			return err
		}
		if file.SHA256 == "" {
			f.Note(fmt.Sprintf("%s: %d bytes, SHA-256 %s (none is published to hold it against)", file.Name, size, sum))
			break
		}
		if sum == file.SHA256 {
			break
		}
		if err := errors.Join(os.Remove(part), removeIfThere(validatorFile(part))); err != nil {
			return err
		}
		// A part from an earlier run may be to blame, so one clean try is fair.
		if restarted {
			return fmt.Errorf("%s: %s: SHA-256 of what the server sent is %s: expected %s. Nothing was kept. Another network or --mirror may help", final, file.URL, sum, file.SHA256)
		}
		f.Note(file.Name + ": SHA-256 does not match: fetching it again from the start")
	}
	if err := os.Rename(part, final); err != nil {
		return err
	}
	return errors.Join(removeIfThere(validatorFile(part)), syncDir(dir))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes a rename last. Systems that cannot sync a folder do not need it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// validatorFile holds what the server said identifies the version that a part is of.
func validatorFile(part string) string { return part + ".version" }

func writeValidator(part, validator string) error {
	if validator == "" {
		return removeIfThere(validatorFile(part))
	}
	return renameio.WriteFile(validatorFile(part), []byte(validator), 0o666)
}
