package fetch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
)

const maxUnpacked = 16 << 30

// GetArchive downloads a zip to file, a path. It unpacks the members with these names, from any folder of the zip, into
// the folder of file. It records the members' SHA-256 (see [Recorded]) and removes the zip.
func (f *Fetcher) GetArchive(ctx context.Context, file string, source Source, names []string) error {
	if err := f.Get(ctx, file, source); err != nil {
		return err
	}
	dir := filepath.Dir(file)
	sums := map[string]string{}
	for _, name := range names {
		f.note("unpacking %s", name)
		if err := unpack(ctx, file, filepath.Join(dir, name)); err != nil {
			return err
		}
		sum, _, err := Sum(ctx, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		f.note("%s: SHA-256 %s", name, sum)
		sums[name] = sum
	}
	if err := record(dir, sums); err != nil {
		return err
	}
	return os.Remove(file)
}

func unpack(ctx context.Context, archive, file string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%s: not a whole zip file: %w. Remove it and fetch again", archive, err)
	}
	defer z.Close()
	name := filepath.Base(file)
	for _, member := range z.File {
		if path.Base(member.Name) != name {
			continue
		}
		size := member.UncompressedSize64
		if size > maxUnpacked {
			return fmt.Errorf("%s: %s claims %d bytes: expected at most %d", archive, name, size, int64(maxUnpacked))
		}
		r, err := member.Open()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, name, err)
		}
		defer r.Close()
		err = wholefile.Write(file, 0o644, func(w io.Writer) error {
			if _, err := io.Copy(w, io.LimitReader(&ended.Reader{Ctx: ctx, R: r}, int64(size))); err != nil {
				return err
			}
			// Reading to the end makes zip check the checksum.
			if _, err := io.ReadFull(r, make([]byte, 1)); !errors.Is(err, io.EOF) {
				if err == nil {
					err = errors.New("more bytes than it claims")
				}
				return fmt.Errorf("damaged: %w. Remove it and fetch again", err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: unpacking %s: %w", archive, name, err)
		}
		return nil
	}
	return fmt.Errorf("%s: no %s in it: this is not the archive of this data set", archive, name)
}
