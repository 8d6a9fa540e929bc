package datasets

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// sumsFile records the SHA-256 of files as fetched, where none is published, so that [Verify] can tell later damage.
const sumsFile = "SHA256SUMS"

// maxUnpacked caps one file unpacked from an archive.
const maxUnpacked = 16 << 30

// archive fetches a zip, unpacks the data set's files and removes the zip.
func (f *fetcher) archive(ctx context.Context, dir string, info Info) error {
	if checks, err := verifyDir(ctx, dir, info); err == nil && !anyBad(checks) {
		f.Note(info.Name + ": already there, SHA-256 as when it was fetched")
		return nil
	}
	if err := f.file(ctx, dir, *info.Archive); err != nil {
		return err
	}
	archive := filepath.Join(dir, info.Archive.Name)
	var sums strings.Builder
	for _, file := range info.Files {
		f.Note("unpacking " + file.Name)
		if err := f.unpack(ctx, archive, dir, file.Name); err != nil {
			return err
		}
		sum, _, err := sumFile(ctx, filepath.Join(dir, file.Name))
		if err != nil {
			return err
		}
		f.Note(fmt.Sprintf("%s: SHA-256 %s", file.Name, sum))
		fmt.Fprintf(&sums, "%s  %s\n", sum, file.Name)
	}
	if err := renameio.WriteFile(filepath.Join(dir, sumsFile), []byte(sums.String()), 0o666); err != nil {
		return err
	}
	return os.Remove(archive)
}

// unpack writes the member of that name, in whichever folder of the zip, to dir.
func (f *fetcher) unpack(ctx context.Context, archive, dir, name string) (err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%s: not a whole zip file: %w. Remove it and fetch again", archive, err)
	}
	defer z.Close()
	for _, member := range z.File {
		if path.Base(member.Name) != name {
			continue
		}
		size := member.UncompressedSize64
		if size > maxUnpacked {
			return fmt.Errorf("%s: %s claims %d bytes: expected at most %d", archive, name, size, int64(maxUnpacked))
		}
		if err := enoughRoom(dir, int64(size)); err != nil {
			return err
		}
		r, err := member.Open()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, name, err)
		}
		defer r.Close()
		w, err := renameio.NewPendingFile(filepath.Join(dir, name), renameio.WithPermissions(0o644))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Cleanup()) }()
		if _, err := io.Copy(w, io.LimitReader(contextReader{ctx, r}, int64(size))); err != nil {
			return fmt.Errorf("%s: unpacking %s: %w", archive, name, f.diskError(filepath.Join(dir, name), err))
		}
		// Reading on to the end makes zip check the checksum.
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: unpacking %s: damaged: %w. Remove it and fetch again", archive, name, err)
		}
		return w.CloseAtomicallyReplace()
	}
	return fmt.Errorf("%s: no %s in it: this is not the archive of this data set", archive, name)
}

// FileCheck is what [Verify] found out about one file.
type FileCheck struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // found; "" if the file cannot be read
	Want   string `json:"want,omitempty"`   // expected; "" if none is known
	Origin string `json:"origin,omitempty"` // where the expected one is from: "published", or "as fetched"
	Err    error  `json:"-"`
}

// Bad says whether the file is missing or differs. One without a checksum to hold it against is not bad.
func (c FileCheck) Bad() bool { return c.Err != nil || c.Want != "" && c.Want != c.SHA256 }

func anyBad(checks []FileCheck) bool {
	for _, c := range checks {
		if c.Bad() || c.Want == "" {
			return true
		}
	}
	return len(checks) == 0
}

// Verify computes the SHA-256 of a data set's files where they live and holds them against those published, or else
// against those recorded when they were fetched. Embedded and generated data sets have no files to check.
func Verify(ctx context.Context, name string, o OpenOptions) ([]FileCheck, error) {
	at, err := Locate(name, o)
	if err != nil || at.Dir == "" {
		return nil, err
	}
	return verifyDir(ctx, at.Dir, at.Info)
}

func verifyDir(ctx context.Context, dir string, info Info) ([]FileCheck, error) {
	recorded := readSums(filepath.Join(dir, sumsFile))
	var checks []FileCheck
	for _, file := range info.Files {
		c := FileCheck{Name: file.Name, Path: filepath.Join(dir, file.Name), Want: file.SHA256, Origin: "published"}
		if c.Want == "" {
			c.Want, c.Origin = recorded[file.Name], "as fetched"
		}
		if c.Want == "" {
			c.Origin = ""
		}
		c.SHA256, _, c.Err = sumFile(ctx, c.Path)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// readSums reads lines of a checksum and a name; what is not of that form is left out.
func readSums(path string) map[string]string {
	sums := map[string]string{}
	f, err := os.Open(path)
	if err != nil {
		return sums
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return sums
	}
	for line := range strings.Lines(string(text)) {
		if sum, name, found := strings.Cut(strings.TrimSpace(line), "  "); found && len(sum) == 64 {
			sums[name] = sum
		}
	}
	return sums
}
