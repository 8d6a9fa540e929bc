//go:build linux && amd64

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const clockVariable = "NODEMASK_FAULTS_CLOCK"

func TestAJumpingClockJumpsAndTimeThatPassesDoesNot(t *testing.T) {
	if os.Getenv(clockVariable) != "" {
		a := time.Now()
		b := time.Now()
		fmt.Printf("wall %d, passed %v\n", b.Unix()-a.Unix(), b.Sub(a) < time.Hour && b.Sub(a) >= 0)
		return
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	const years = 10 * 365 * 24 * 3600
	code, err := Jumping(os.Args[0], []string{"-test.run=^" + t.Name() + "$"}, append(os.Environ(), clockVariable+"=1"), out, func(n int) int64 {
		if n%2 == 0 {
			return years
		}
		return -years
	})
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip("skipped: processes cannot be traced here")
	}
	require.NoError(t, err)
	said, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Zero(t, code, string(said))
	require.Regexp(t, `wall -?63\d{7}, passed true`, string(said))
}
