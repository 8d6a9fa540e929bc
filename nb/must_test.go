package nb

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMustEndsTheProgramWithOneLine(t *testing.T) {
	if os.Getenv("NB_FAIL") != "" {
		Must(errors.Join(errors.New("no such graph: cora2"), errors.New("expected cora")))
	}
	c := exec.Command(os.Args[0], "-test.run=^TestMustEndsTheProgramWithOneLine$")
	c.Env = append(os.Environ(), "NB_FAIL=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	var exit *exec.ExitError
	require.ErrorAs(t, c.Run(), &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Equal(t, "no such graph: cora2; expected cora\n", stderr.String())
}
