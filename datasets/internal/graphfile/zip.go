package graphfile

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"nodemask/internal/ended"
)

const maxMembers = 10_000

// Zip is a zip file of streamed members; several may be open at once.
type Zip struct {
	*File
	Members map[string]*zip.File

	ctx context.Context
}

// NewZip lists a zip's members, without suffix. Once ctx is done, reads return its error.
func NewZip(ctx context.Context, in *File, kind, suffix string) (*Zip, error) {
	z := &Zip{File: in, Members: map[string]*zip.File{}, ctx: ctx}
	archive, err := zip.NewReader(in, in.Size)
	if err != nil {
		return nil, z.Errorf("%d bytes: not a whole %s (zip) file: %w. Get it again", in.Size, kind, err)
	}
	if len(archive.File) > maxMembers {
		return nil, z.Errorf("%d members: expected at most %d", len(archive.File), maxMembers)
	}
	for _, m := range archive.File {
		name := strings.TrimSuffix(m.Name, suffix)
		if z.Members[name] != nil {
			return nil, z.Errorf("member %.80q is there twice", name)
		}
		z.Members[name] = m
	}
	return z, nil
}

// Errorf returns an error that names the file.
func (z *Zip) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", z.Name, fmt.Errorf(format, args...))
}

// Take counts bytes that the caller is about to keep; see [memory.Budget].
func (z *Zip) Take(bytes int64) error {
	if err := z.File.Take(bytes); err != nil {
		return z.Errorf("%w", err)
	}
	return nil
}

// Open starts reading a member, whose checksum is checked at its end.
func (z *Zip) Open(m *zip.File) (io.ReadCloser, error) {
	r, err := m.Open()
	if err != nil {
		return nil, z.Errorf("member %.80q: %w. The file is damaged: get it again", m.Name, err)
	}
	return &memberReader{ctx: z.ctx, ReadCloser: r}, nil
}

type memberReader struct {
	ctx context.Context
	io.ReadCloser
}

func (m *memberReader) Read(b []byte) (int, error) {
	if err := ended.Err(m.ctx); err != nil {
		return 0, err
	}
	n, err := m.ReadCloser.Read(b[:min(len(b), 4<<20)])
	var corrupt flate.CorruptInputError
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.As(err, &corrupt) {
		err = fmt.Errorf("the packed bytes are damaged (%w): get the file again", err)
	}
	return n, err
}
