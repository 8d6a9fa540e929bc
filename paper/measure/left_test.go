package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheTimeLeftFollowsFromTheTrialsThatRan(t *testing.T) {
	assert.Zero(t, TimeLeft(time.Minute, 0, 4), "none ran")
	assert.Equal(t, 40*time.Second, TimeLeft(40*time.Second, 4, 4), "ten seconds each, and four to go")
	assert.Equal(t, 13*time.Second, TimeLeft(40*time.Second, 3, 1), "rounded")
	assert.Zero(t, TimeLeft(40*time.Second, 3, 0), "all are done")
}
