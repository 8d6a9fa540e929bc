package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPredictionsObeyNoTextOfAFile(t *testing.T) {
	const id = "a\x1b[31m\u009b31m\u202eé\x7f"
	var b bytes.Buffer
	require.NoError(t, json.NewEncoder(plainJSON{&b}).Encode(id))
	require.Equal(t, "\"a\\u001b[31m\\u009b31m\\u202eé\\u007f\"\n", b.String())
	var back string
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, id, back)
}
