//go:build linux && amd64

package faults

import (
	"fmt"
	"os"
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
	const years = 10 * 365 * 24 * 3600
	said := Jumping(t, os.Args[0], []string{"-test.run=^" + t.Name() + "$"}, append(os.Environ(), clockVariable+"=1"), func(n int) int64 {
		if n%2 == 0 {
			return years
		}
		return -years
	})
	require.Regexp(t, `wall -?63\d{7}, passed true`, said)
}
