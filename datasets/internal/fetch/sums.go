package fetch

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
)

// sumsFile records unpublished SHA-256 sums when fetched, to detect later damage.
const sumsFile = "SHA256SUMS"

// Sum returns the SHA-256 of a file, in hex, and its size in bytes.
func Sum(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, contextReader{ctx, f})
	if err != nil {
		return "", n, fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// GitID returns git's id of a file: the SHA-1 of "blob SIZE", a zero byte and the content. Unlike SHA-256 it is open to
// forgery.
func GitID(ctx context.Context, path string, size int64) (string, error) {
	f, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, contextReader{ctx, f}); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// open refuses pipes, which wait, and devices, which never end.
func open(path string) (*graphfile.File, error) { return graphfile.Open(path) }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := ended.Err(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// Recorded returns the SHA-256 that [Fetcher.GetArchive] recorded in a folder, by readable file.
func Recorded(dir string) map[string]string {
	sums := map[string]string{}
	f, err := open(filepath.Join(dir, sumsFile))
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

func record(dir string, sums map[string]string) error {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return wholefile.WriteBytes(filepath.Join(dir, sumsFile), 0o644, []byte(text.String()))
}
