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

func TestAPipeThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	ended := make(chan error, 1)
	go func() { ended <- WriteBytes(path, 0o644, []byte("text")) }()
	select {
	case err := <-ended:
		require.EqualError(t, err, "this is a pipe that nobody reads: start what reads it first, or name a file")
	case <-time.After(5 * time.Second):
		t.Fatal("it is waited for")
	}
}

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
