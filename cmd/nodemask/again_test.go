//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"nodemask/datasets"
	"nodemask/internal/recordstore"
	"nodemask/record"
)

func TestRepeatingARecordOfAnotherBackendOpensNothing(t *testing.T) {
	// Pipes stand where the plugin and the data would be: whoever opens one is seen by the other end.
	folder := t.TempDir()
	plugin, data := filepath.Join(folder, "pjrt_c_api_cpu_plugin.so"), filepath.Join(folder, "nodes.csv")
	stop := make(chan struct{})
	var watching sync.WaitGroup
	for _, path := range []string{plugin, data} {
		require.NoError(t, unix.Mkfifo(path, 0o666))
		watching.Go(func() {
			for {
				if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // somebody reads
					t.Errorf("%s was opened", filepath.Base(path))
					_ = unix.Close(fd)
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	c := record.NewCell(folder, "gin", datasets.Transductive, 10)
	line, err := recordstore.Line(record.Record{Cell: c.Key(), Data: c.Data, Setting: c.Setting,
		TrainPercent: c.TrainPercent, Parameters: c.Parameters, Seed: 1, SplitSeed: 1, SplitHash: "5eed",
		Backend: "xla:" + plugin})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "record.jsonl")
	require.NoError(t, os.WriteFile(file, line, 0o666))
	code, out, diagnostics := nodemask(t, "reproduce", "--again", file)
	close(stop)
	watching.Wait()
	require.Equal(t, 2, code, diagnostics)
	require.Empty(t, out)
	require.Contains(t, diagnostics, "record.jsonl: line 1: a record of backend ")
	require.Contains(t, diagnostics, "expected one of xla:cuda, xla:cpu, go")
	require.Equal(t, 1, strings.Count(diagnostics, "\n"), diagnostics)
}
