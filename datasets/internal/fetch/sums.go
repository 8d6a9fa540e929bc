package fetch

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/ended"
	"nodemask/internal/wholefile"
)

// sumsFile holds the SHA-256 sums of fetched files for which none is published, to detect later damage.
const sumsFile = "SHA256SUMS"

// sums computes a file's SHA-256 and its git object id: the SHA-1 of "blob SIZE", a zero byte and the content. As files
// with equal SHA-1 can be forged, a SHA-256 is preferred where one is published.
type sums struct{ sha256, git hash.Hash }

func newSums(size int64) sums {
	s := sums{sha256.New(), sha1.New()}
	fmt.Fprintf(s.git, "blob %d\x00", size)
	return s
}

// Write adds content to both hashes.
func (s sums) Write(b []byte) (int, error) {
	_, _ = s.git.Write(b) // writing to a hash never fails
	return s.sha256.Write(b)
}

func (s sums) hex() (sum, git string) {
	return hex.EncodeToString(s.sha256.Sum(nil)), hex.EncodeToString(s.git.Sum(nil))
}

// Sum returns a file's SHA-256 and git object id in hex.
func Sum(ctx context.Context, path string) (sum, git string, err error) {
	f, err := graphfile.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	s := newSums(f.Size)
	if _, err := io.Copy(s, &ended.Reader{Ctx: ctx, R: f}); err != nil {
		return "", "", fmt.Errorf("%s: %w", path, err)
	}
	sum, git = s.hex()
	return sum, git, nil
}

// Recorded returns the SHA-256 sums that [Fetcher.GetArchive] recorded in a folder, keyed by file name.
func Recorded(dir string) map[string]string {
	sums := map[string]string{}
	f, err := graphfile.Open(filepath.Join(dir, sumsFile))
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
