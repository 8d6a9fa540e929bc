package datasets

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Deflate cannot shrink data by more than this, so a member that claims more is lying.
const maxDeflateRatio = 1032

// Members that claim to unpack to more than plainDeflateRatio times their packed size, and to more than
// countFirst bytes, are unpacked once without keeping anything before their size is believed.
const (
	plainDeflateRatio = 64
	countFirst        = 64 << 20
	maxNPZMembers     = 10_000
)

// npzFile is a zip of npy arrays. Members are streamed, and can be opened several times, also side by side.
type npzFile struct {
	name    string // for errors
	ctx     context.Context
	size    int64
	members map[string]*zip.File
	counted map[string]bool // members whose size was checked by unpacking
	close   func() error
}

// openNPZ opens a file. Reading any member ends with the context's error once that is done.
func openNPZ(ctx context.Context, path string) (*npzFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	z, err := newNPZ(ctx, f, info.Size(), filepath.Base(path))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	z.close = f.Close
	return z, nil
}

// newNPZ reads the list of members of a zip of the given size.
func newNPZ(ctx context.Context, r io.ReaderAt, size int64, name string) (*npzFile, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %d bytes: not a whole npz (zip) file: %w. Get it again", name, size, err)
	}
	if len(archive.File) > maxNPZMembers {
		return nil, fmt.Errorf("%s: %d members: expected at most %d", name, len(archive.File), maxNPZMembers)
	}
	z := &npzFile{name: name, ctx: ctx, size: size, members: map[string]*zip.File{}, counted: map[string]bool{}, close: func() error { return nil }}
	for _, f := range archive.File {
		key := strings.TrimSuffix(f.Name, ".npy")
		if z.members[key] != nil {
			return nil, fmt.Errorf("%s: member %.80q is there twice", name, key)
		}
		z.members[key] = f
	}
	return z, nil
}

// Close closes the file.
func (z *npzFile) Close() error { return z.close() }

// Has says whether there is a member of that name (without .npy).
func (z *npzFile) Has(member string) bool { return z.members[member] != nil }

// Names lists the members, sorted, for error messages.
func (z *npzFile) Names() string {
	var names []string
	for name := range z.members {
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

// Require is an error naming the first of the members that is not there.
func (z *npzFile) Require(layout string, members ...string) error {
	for _, member := range members {
		if !z.Has(member) {
			return fmt.Errorf("%s: no member %q, which %s has; found %s", z.name, member, layout, z.Names())
		}
	}
	return nil
}

// npyMember is an array in an npz, to be closed after use.
type npyMember struct {
	*npyArray
	io.Closer
}

// Open starts reading a member.
func (z *npzFile) Open(member string) (npyMember, error) {
	where := z.name + ": " + member
	f := z.members[member]
	if f == nil {
		return npyMember{}, fmt.Errorf("%s: no member %q; found %s", z.name, member, z.Names())
	}
	if err := z.believe(f, where); err != nil {
		return npyMember{}, err
	}
	r, err := z.stream(f, where)
	if err != nil {
		return npyMember{}, err
	}
	a, err := newNPY(r, int64(f.UncompressedSize64), where)
	if err != nil {
		return npyMember{}, errors.Join(err, r.Close())
	}
	return npyMember{a, r}, nil
}

// believe checks the size that the zip claims for a member against the bytes that are there.
func (z *npzFile) believe(f *zip.File, where string) error {
	packed, full := f.CompressedSize64, f.UncompressedSize64
	switch {
	case f.Flags&1 != 0:
		return fmt.Errorf("%s: the member is encrypted: save it without a password", where)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("%s: packed by method %d: expected stored (0) or deflated (8), as numpy.savez and numpy.savez_compressed write", where, f.Method)
	case packed > uint64(z.size):
		return fmt.Errorf("%s: claims %d packed bytes in a file of %d. The file is damaged: get it again", where, packed, z.size)
	case f.Method == zip.Store && packed != full:
		return fmt.Errorf("%s: stored, yet claims %d bytes packed and %d unpacked. The file is damaged: get it again", where, packed, full)
	case full > (packed+16)*maxDeflateRatio:
		return fmt.Errorf("%s: claims that %d bytes unpack to %d, which deflate cannot do. The file is damaged: get it again", where, packed, full)
	}
	if full <= countFirst || full <= packed*plainDeflateRatio || z.counted[f.Name] {
		return nil
	}
	r, err := z.stream(f, where)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, r)
	err = errors.Join(err, r.Close())
	if err != nil || uint64(n) != full {
		return fmt.Errorf("%s: claims %d bytes, but only %d can be unpacked: %w. The file is damaged: get it again", where, full, n, err)
	}
	z.counted[f.Name] = true
	return nil
}

func (z *npzFile) stream(f *zip.File, where string) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w. The file is damaged: get it again", where, err)
	}
	return &memberReader{ctx: z.ctx, r: r}, nil
}

// memberReader ends reading when the context is done, and puts damage into words.
type memberReader struct {
	ctx context.Context
	r   io.ReadCloser
}

func (m *memberReader) Read(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(b)
	var corrupt flate.CorruptInputError
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.As(err, &corrupt) {
		err = fmt.Errorf("the packed bytes are damaged (%w): get the file again", err)
	}
	return n, err
}

func (m *memberReader) Close() error { return m.r.Close() }

// vector opens a member of one dimension (or a scalar, for length 1) and holds its length against want unless that is
// negative.
func (z *npzFile) vector(member string, want int64) (npyMember, error) {
	a, err := z.Open(member)
	if err != nil {
		return a, err
	}
	one := len(a.Shape) == 1 || len(a.Shape) == 0 || len(a.Shape) == 2 && a.Shape[1] == 1
	if !one || want >= 0 && a.Len() != want {
		expected := "one dimension"
		if want >= 0 {
			expected = fmt.Sprintf("[%d]", want)
		}
		return a, errors.Join(fmt.Errorf("%s: shape %s: expected %s", a.where, shapeString(a.Shape), expected), a.Close())
	}
	return a, nil
}

// ints reads a whole member of one dimension.
func (z *npzFile) ints(member string, want int64) ([]int64, error) {
	a, err := z.vector(member, want)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	values := make([]int64, a.Len())
	return values, a.Ints(values)
}

// strings reads a whole member of one dimension as text.
func (z *npzFile) strings(member string, want int64) ([]string, error) {
	a, err := z.vector(member, want)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	values := make([]string, a.Len())
	return values, a.Strings(values)
}

// shape reads a member such as adj_shape: two lengths.
func (z *npzFile) shape(member string) (rows, width int64, err error) {
	values, err := z.ints(member, 2)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range values {
		if v < 0 || v > maxNodes {
			return 0, 0, fmt.Errorf("%s: %s: %s: expected lengths from 0 to %d", z.name, member, shapeString(values), maxNodes)
		}
	}
	return values[0], values[1], nil
}

// dense reads a member [rows, width] as float32, row by row whatever its order in the file.
func (z *npzFile) dense(member string, rows int64) (Features, error) {
	a, err := z.Open(member)
	if err != nil {
		return Features{}, err
	}
	defer a.Close()
	if len(a.Shape) != 2 || a.Shape[0] != rows || a.Shape[1] > maxWidth {
		return Features{}, fmt.Errorf("%s: shape %s: expected [%d, width], one row for each node, and a width up to %d", a.where, shapeString(a.Shape), rows, maxWidth)
	}
	f := Features{Rows: int(rows), Width: int(a.Shape[1]), Dense: make([]float32, a.Len())}
	if !a.Fortran {
		return f, a.Float32s(f.Dense)
	}
	column := make([]float32, rows)
	for j := range f.Width {
		if err := a.Float32s(column); err != nil {
			return Features{}, err
		}
		for i, v := range column {
			f.Dense[i*f.Width+j] = v
		}
	}
	return f, nil
}

// Limits on graphs read from files. A width is only a number in a header, which costs a file nothing but whoever makes a
// dense row of it a lot, so it needs one of its own.
const (
	maxNodes = 1<<31 - 2
	maxWidth = 1 << 24
)
