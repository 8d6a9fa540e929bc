package fused

import (
	"testing"

	"github.com/gomlx/compute/gobackend"
	"github.com/stretchr/testify/require"
)

func TestOnlyVersionsOfGoMLXThatWereTriedAreChanged(t *testing.T) {
	require.NoError(t, Intercepted())
	require.ErrorContains(t, checkVersion(gobackend.New, goModule, []string{"v0.0.1"}),
		`github.com/gomlx/compute has version "v0.1.`)
	require.ErrorContains(t, checkVersion(checkVersion, goModule, triedGo), `has version "", expected one of [v0.1.3 v0.1.6]`)
}
