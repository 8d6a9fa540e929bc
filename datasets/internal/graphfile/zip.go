package graphfile

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"nodemask/internal/ended"
)

const maxMembers = 10_000

// Zip is a zip file; its members are read whole.
type Zip struct {
	Members map[string]*zip.File

	in  *File
	ctx context.Context
}

// NewZip opens a zip and removes suffix from its members' names.
func NewZip(ctx context.Context, in *File, kind, suffix string) (*Zip, error) {
	z := &Zip{Members: map[string]*zip.File{}, in: in, ctx: ctx}
	archive, err := zip.NewReader(in, in.Size)
	if err != nil {
		return nil, fmt.Errorf("%d bytes: not a whole %s (zip) file: %w. Get it again", in.Size, kind, err)
	}
	if len(archive.File) > maxMembers {
		return nil, fmt.Errorf("%d members: expected at most %d", len(archive.File), maxMembers)
	}
	for _, m := range archive.File {
		name := strings.TrimSuffix(m.Name, suffix)
		if z.Members[name] != nil {
			return nil, fmt.Errorf("member %.80q is there twice", name)
		}
		z.Members[name] = m
	}
	return z, nil
}

// Read returns a member's content and checks its checksum.
func (z *Zip) Read(name string) ([]byte, error) {
	if err := ended.Err(z.ctx); err != nil {
		return nil, err
	}
	m := z.Members[name]
	if m == nil {
		names := slices.Sorted(maps.Keys(z.Members))
		return nil, fmt.Errorf("no member %.80q; found %.40q", name, names[:min(len(names), 20)])
	}
	if err := z.in.Take(int64(m.UncompressedSize64)); err != nil {
		return nil, fmt.Errorf("member %.80q: %w", m.Name, err)
	}
	data := make([]byte, m.UncompressedSize64)
	r, err := m.Open()
	if err == nil {
		defer r.Close()
		in := &ended.Reader{Ctx: z.ctx, R: r}
		if _, err = io.ReadFull(in, data); err == nil {
			_, err = in.Read(make([]byte, 1)) // package zip checks the checksum at the end
		}
	}
	if err := ended.Err(z.ctx); err != nil {
		return nil, err
	}
	if err != io.EOF {
		return nil, fmt.Errorf("member %.80q: %w: the file is damaged: get it again", m.Name, err)
	}
	return data, nil
}
