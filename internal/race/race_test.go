package race

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/race/racetest"
)

// contenderLog, if set, makes the test binary a contender that appends to this file what it does.
const contenderLog = "NODEMASK_TEST_CONTENDER_LOG"

func TestMain(m *testing.M) {
	log := os.Getenv(contenderLog)
	if log == "" {
		os.Exit(m.Run())
	}
	os.Exit(racetest.Contender(log, os.Args[1:]))
}

// field lists fake contenders by their kinds, named a, b, …, and the log that they write.
func field(t *testing.T, kinds ...string) (lanes []*Lane, log func() []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	t.Setenv(contenderLog, path)
	for i, kind := range kinds {
		name := string(rune('a' + i))
		lanes = append(lanes, &Lane{Library: name, Command: []string{os.Args[0], kind, name}})
	}
	return lanes, func() []string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

func TestContendersTakeTurnsAndTheFirstTurnGoesRound(t *testing.T) {
	lanes, log := field(t, "works", "works", "works")
	require.NoError(t, Run(t.Context(), lanes, 4, 2, Silence))
	var want []string
	for _, round := range []string{"abc", "bca", "cab", "abc"} {
		for _, name := range round {
			want = append(want, string(name)+" train 2", string(name)+" validate 2")
		}
	}
	lines := log()
	assert.Equal(t, []string{"a ", "b ", "c "}, lines[:3], "all are ready before the first turn")
	assert.Equal(t, want, lines[3:3+len(want)])
	for _, l := range lanes {
		assert.Empty(t, l.Error)
		assert.Equal(t, "1.2", l.Version)
		assert.Equal(t, 0.25, l.FirstEpoch)
		assert.Equal(t, []float64{2, 2, 2, 2, 2, 2, 2, 2}, l.Train)
		assert.Equal(t, []float64{3, 3, 3, 3, 3, 3, 3, 3}, l.Validate)
		assert.Equal(t, 77.0, l.PeakMB)
		assert.Nil(t, l.process)
	}
}

func TestAContenderThatFailsDropsOutAndTheOthersGoOn(t *testing.T) {
	lanes, _ := field(t, "works", "refuses", "babbles", "dies", "fails-to-validate", "works", "works", "is-not-ready",
		"answers-nothing")
	lanes[5].Command = []string{filepath.Join(t.TempDir(), "python"), "peers.py"}
	require.NoError(t, Run(t.Context(), lanes, 3, 1, Silence))
	for i, want := range []string{"", "no such library", `answered "Downloading 3 of 7"`,
		"ended without an answer: ImportError: no torch", "out of memory", "no such file", "",
		"did not say that it is ready", "answered 0 times for 1 epochs"} {
		if want == "" {
			assert.Empty(t, lanes[i].Error)
			assert.Len(t, lanes[i].Train, 3)
			assert.Len(t, lanes[i].Validate, 3)
			continue
		}
		assert.Contains(t, lanes[i].Error, want)
		assert.NotContains(t, lanes[i].Error, "\n")
		assert.Empty(t, lanes[i].Validate)
		assert.Nil(t, lanes[i].process)
	}
	assert.Len(t, lanes[4].Train, 1, "nothing is asked after a failure")
}

// hanging listens for contenders that hang, and returns their connections as they come.
func hanging(t *testing.T, lanes ...*Lane) (next func() net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	for _, l := range lanes {
		l.Command = append(l.Command, listener.Addr().String())
	}
	return func() net.Conn {
		c, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// requireEnded waits until the process behind a connection is gone; if it never goes, the test runs out of time.
func requireEnded(t *testing.T, c net.Conn) {
	t.Helper()
	n, _ := c.Read(make([]byte, 1)) // end of file or reset
	require.Zero(t, n)
}

func TestASilentContenderIsKilled(t *testing.T) {
	lanes, _ := field(t, "hangs")
	hanging(t, lanes...)
	assert.Nil(t, lanes[0].start(t.Context(), time.Millisecond))
	assert.Equal(t, "no answer for 1ms", lanes[0].Error)
	assert.Nil(t, lanes[0].process, "at once, not at the end of the race")
}

func TestCancellingKillsAllContendersAndWhatTheyStarted(t *testing.T) {
	for name, kinds := range map[string][]string{
		"while one starts": {"works", "hangs-with-child"},
		"in a turn":        {"hangs-when-asked", "works"},
	} {
		t.Run(name, func(t *testing.T) {
			lanes, log := field(t, kinds...)
			hangs := 0
			if strings.HasPrefix(kinds[1], "hangs") {
				hangs = 1
			}
			next := hanging(t, lanes[hangs])
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() { ended <- Run(ctx, lanes, 5, 5, Silence) }()
			connections := []net.Conn{next()}
			if kinds[hangs] == "hangs-with-child" {
				connections = append(connections, next())
			}
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			for _, c := range connections {
				requireEnded(t, c)
			}
			for _, l := range lanes {
				assert.Nil(t, l.process)
			}
			assert.NotContains(t, log(), "b train 5", "nobody is asked any more")
		})
	}
}
