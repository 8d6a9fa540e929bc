package datasets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParametersInANameReplaceDefaults(t *testing.T) {
	values, err := readParameters("sbm:nodes=200, degree=2.5", sbmParameters())
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"nodes": 200, "classes": 5, "degree": 2.5, "seed": 1}, values)
	for _, name := range []string{"sbm", "sbm:"} {
		values, err = readParameters(name, sbmParameters())
		require.NoError(t, err)
		assert.Equal(t, 1000.0, values["nodes"])
	}
}

func TestParametersThatCannotBeAreMisuse(t *testing.T) {
	for name, says := range map[string]string{
		"sbm:size=3":          `no parameter "size=3": expected name=value with one of nodes, classes, degree, seed`,
		"sbm:nodes":           `"nodes": expected a whole number from 2`,
		"sbm:nodes=2.5":       "expected a whole number",
		"sbm:nodes=0":         "from 2 to",
		"sbm:degree=NaN":      "expected a number",
		"sbm:nodes=1e300":     "from 2 to",
		"sbm:nodes=3,nodes=4": "nodes is there twice",
		"sbm:,":               "no parameter",
	} {
		_, err := readParameters(name, sbmParameters())
		var misuse *NameError
		require.ErrorAs(t, err, &misuse, name)
		requireOneLine(t, err, says)
	}
}
