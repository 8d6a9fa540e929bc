package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/datasets/internal/fetch"
	"nodemask/internal/ended"
)

// FetchOptions configures [Fetch].
type FetchOptions struct {
	// Dir receives a folder named after the data set. "" means $NODEMASK_DATA, else the cache folder (see
	// [OpenOptions]).
	Dir string
	// Mirror is an https:// folder with the same files. "" means the addresses in the list of data sets.
	Mirror string
	// Client makes the requests; Fetch lets it follow redirects to https alone. Nil means a client that requires TLS
	// 1.2 or later and gives up on a silent server.
	Client *http.Client
	// Progress, unless nil, is called as bytes arrive; done and total count bytes, and total is -1 if unknown.
	Progress func(file string, done, total int64)
	// Note, unless nil, receives messages about the download.
	Note func(line string)
}

// Fetch downloads a data set's files and returns their folder. It skips complete files. It writes to a temporary file,
// which it renames once the SHA-256 matches. All addresses must be https. The error is a [*NameError] if the name is
// unknown or the data set has no files.
func Fetch(ctx context.Context, name string, o FetchOptions) (dir string, err error) {
	info, err := lookup(name)
	if err != nil {
		return "", err
	}
	if info.generated() {
		return "", &NameError{Name: name, Problem: "nothing to fetch: it is generated when it is opened"}
	}
	folders := OpenOptions{Dir: o.Dir}.folders()
	if len(folders) == 0 {
		return "", fmt.Errorf("no folder for %s: this system names no cache folder: name one by "+
			"NODEMASK_DATA", name)
	}
	dir = filepath.Join(folders[0], info.Name)
	if info.Embedded && o.Dir == "" && o.Note != nil {
		o.Note(fmt.Sprintf("%s is part of the program, which opens these files only where it is told their folder",
			info.Name))
	}
	return dir, fetchInto(ctx, dir, info, o)
}

func fetchInto(ctx context.Context, dir string, info Info, o FetchOptions) error {
	f := fetch.New(fetch.Options{Client: o.Client, Progress: o.Progress, Note: o.Note})
	if info.Archive == nil {
		for _, file := range info.Files {
			if err := f.Get(ctx, filepath.Join(dir, file.Name), file.source(o.Mirror)); err != nil {
				return err
			}
		}
		return nil
	}
	checks, err := Location{Info: info, Dir: dir}.Verify(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(checks, func(c FileCheck) bool { return c.Bad() || c.Want == "" }) {
		if o.Note != nil {
			o.Note(info.Name + ": already there, SHA-256 as when it was fetched")
		}
		err := os.Remove(filepath.Join(dir, info.Archive.Name)) // a fetch that was killed after unpacking left the zip
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	var names []string
	for _, file := range info.Files {
		names = append(names, file.Name)
	}
	return f.GetArchive(ctx, filepath.Join(dir, info.Archive.Name), info.Archive.source(o.Mirror), names)
}

func (f File) source(mirror string) fetch.Source {
	s := fetch.Source{URL: f.URL, Size: f.Size, SHA256: f.SHA256, Git: f.Git}
	if mirror != "" {
		s.URL = strings.TrimSuffix(mirror, "/") + "/" + f.Name
	}
	return s
}

// FileCheck is the result of [Location.Verify] for one file.
type FileCheck struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // actual; "" if unreadable
	Want   string `json:"want,omitempty"`   // expected; "" if unknown
	Origin string `json:"origin,omitempty"` // where Want is from, such as "published"
	Err    error  `json:"-"`
}

// Bad reports whether the file is missing or differs from a known checksum.
func (c FileCheck) Bad() bool { return c.Err != nil || c.Want != "" && c.Want != c.SHA256 }

// Verify compares each file's SHA-256 with the published one or, if there is none, with the one that [Fetch] recorded.
// Embedded and generated data sets have no files.
func (l Location) Verify(ctx context.Context) ([]FileCheck, error) {
	if l.Dir == "" {
		return nil, nil
	}
	recorded := fetch.Recorded(l.Dir)
	var checks []FileCheck
	for _, file := range l.Info.Files {
		c := FileCheck{Name: file.Name, Path: filepath.Join(l.Dir, file.Name), Want: file.SHA256, Origin: "published"}
		if c.Want == "" {
			c.Want, c.Origin = recorded[file.Name], "as fetched"
		}
		if c.Want == "" {
			c.Origin = ""
		}
		var git string
		if c.SHA256, git, c.Err = fetch.Sum(ctx, c.Path); c.Err == nil && c.Want == "" && file.Git != "" {
			if c.Want, c.Origin = c.SHA256, "published as git's object"; git != file.Git {
				c.Want = "git's object " + file.Git
			}
		}
		if err := ended.Err(ctx); err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}
