package numpy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
)

// maxDeflateRatio is deflate's largest ratio: a member that claims more is lying.
const maxDeflateRatio = 1032

// Members above both are first unpacked, keeping nothing, to check their size.
const (
	plainDeflateRatio = 64
	countFirst        = 64 << 20
)

// File reads a zip of npy arrays.
type File struct {
	*graphfile.Zip
	counted map[string]bool // members whose size was checked
}

// Open opens a file. Once ctx is done, reads return its error.
func Open(ctx context.Context, path string) (*File, error) {
	f, err := graphfile.Open(path)
	if err != nil {
		return nil, err
	}
	z, err := New(ctx, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return z, nil
}

// New reads a zip's list of members. [File.Close] closes it.
func New(ctx context.Context, in *graphfile.File) (*File, error) {
	z, err := graphfile.NewZip(ctx, in, "npz", ".npy")
	if err != nil {
		return nil, err
	}
	return &File{z, map[string]bool{}}, nil
}

// Has reports whether a member (without .npy) exists.
func (z *File) Has(member string) bool { return z.Members[member] != nil }

// Names returns the members' sorted names, for errors.
func (z *File) Names() string {
	var names []string
	for name := range z.Members {
		names = append(names, fmt.Sprintf("%.40s", name))
	}
	slices.Sort(names)
	if len(names) > 20 {
		names = append(names[:20], fmt.Sprintf("and %d more", len(names)-20))
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// Require returns an error that names a layout's first missing member.
func (z *File) Require(layout string, members ...string) error {
	for _, member := range members {
		if !z.Has(member) {
			return z.Errorf("no member %q, which %s has; found %s", member, layout, z.Names())
		}
	}
	return nil
}

// Open starts reading a member; close it after use.
func (z *File) Open(member string) (*Array, error) {
	f := z.Members[member]
	if f == nil {
		return nil, z.Errorf("no member %q; found %s", member, z.Names())
	}
	if err := z.believe(f, member); err != nil {
		return nil, err
	}
	r, err := z.Zip.Open(f)
	if err != nil {
		return nil, err
	}
	a, err := newArray(r, int64(f.UncompressedSize64), z.Errorf("%s", member).Error())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	a.closer = r
	return a, nil
}

func (z *File) believe(f *zip.File, member string) error {
	packed, full := f.CompressedSize64, f.UncompressedSize64
	switch {
	case f.Flags&1 != 0:
		return z.Errorf("%s: the member is encrypted: save it without a password", member)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return z.Errorf("%s: packed by method %d: expected stored (0) or deflated (8), as numpy.savez and "+
			"numpy.savez_compressed write", member, f.Method)
	case packed > uint64(z.Size):
		return z.Errorf("%s: claims %d packed bytes in a file of %d. The file is damaged: get it again",
			member, packed, z.Size)
	case f.Method == zip.Store && packed != full:
		return z.Errorf("%s: stored, yet claims %d bytes packed and %d unpacked. The file is damaged: get it again",
			member, packed, full)
	case full > (packed+16)*maxDeflateRatio:
		return z.Errorf("%s: claims that %d bytes unpack to %d, which deflate cannot do. The file is damaged: get it again",
			member, packed, full)
	}
	if full <= countFirst || full <= packed*plainDeflateRatio || z.counted[f.Name] {
		return nil
	}
	r, err := z.Zip.Open(f)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, r)
	err = errors.Join(err, r.Close())
	if err == nil && uint64(n) != full {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return z.Errorf("%s: claims %d bytes, but only %d can be unpacked: %w. The file is damaged: get it again",
			member, full, n, err)
	}
	z.counted[f.Name] = true
	return nil
}

// Vector opens a member of one dimension and this length (negative: any). A number or a column counts.
func (z *File) Vector(member string, length int64) (*Array, error) {
	a, err := z.Open(member)
	if err != nil {
		return nil, err
	}
	one := len(a.Shape) == 1 || len(a.Shape) == 0 || len(a.Shape) == 2 && a.Shape[1] == 1
	if !one || length >= 0 && a.Len() != length {
		expected := "one dimension"
		if length >= 0 {
			expected = fmt.Sprintf("[%d]", length)
		}
		return nil, errors.Join(a.Errorf("shape %s: expected %s", ShapeText(a.Shape), expected), a.Close())
	}
	return a, nil
}

// Ints returns a whole member that [File.Vector] opens.
func (z *File) Ints(member string, length int64) ([]int64, error) {
	return readWhole(z, member, length, func(Dtype) int { return 8 }, (*Array).Ints)
}

// Strings returns a whole member that [File.Vector] opens, as text.
func (z *File) Strings(member string, length int64) ([]string, error) {
	return readWhole(z, member, length, func(t Dtype) int { return 16 + t.Size }, (*Array).Strings)
}

func readWhole[T any](z *File, member string, length int64, bytes func(Dtype) int,
	read func(a *Array, values []T) error) ([]T, error) {
	a, err := z.Vector(member, length)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if err := z.Take(a.Len() * int64(bytes(a.Type))); err != nil {
		return nil, err
	}
	values := make([]T, a.Len())
	return values, read(a, values)
}
