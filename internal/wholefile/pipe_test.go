//go:build unix

package wholefile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPipeThatIsReadSlowlyGetsAllOfIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	want := bytes.Repeat([]byte("much more than a pipe holds "), 100_000)
	ended := make(chan error, 1)
	go func() { ended <- WriteBytes(path, 0o644, want) }()
	time.Sleep(100 * time.Millisecond) // the pipe is full by now
	got, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.True(t, bytes.Equal(want, got))
}

func TestTheUmaskHoldsAndAFileKeepsItsMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(t.TempDir(), "a")
	mode := func() os.FileMode {
		require.NoError(t, WriteBytes(path, 0o644, []byte("text")))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode()
	}
	require.Equal(t, os.FileMode(0o600), mode())
	for _, kept := range []os.FileMode{0o640, 0o444, 0o666} {
		require.NoError(t, os.Chmod(path, kept))
		require.Equal(t, kept, mode())
	}
	require.NoError(t, Write(path, 0o644, func(io.Writer) error {
		parts, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".a.*"))
		require.NoError(t, err)
		info, err := os.Stat(parts[0])
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), "while it is written")
		return nil
	}))
}
