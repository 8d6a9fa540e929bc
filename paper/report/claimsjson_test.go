package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/paper/judge"
	"nodemask/stats"
)

func TestClaimsForProgramsAreThoseOfTheCommittedResults(t *testing.T) {
	const file = "../../docs/claims.json"
	var text bytes.Buffer
	require.NoError(t, WriteClaims(&text, reported(t), committed(t)))
	if *update {
		require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(want) == text.String(), "'go test ./paper/report -update' writes it anew")

	var all claimsJSON
	require.NoError(t, json.Unmarshal(want, &all))
	require.Equal(t, "nodemask-claims", all.Schema)
	require.Equal(t, 1, all.Version)
	judged := Judge(reported(t), committed(t))
	require.Len(t, all.Claims, len(judged))
	for i, c := range all.Claims {
		j := judged[i]
		require.Equal(t, j.ID, c.ID)
		require.Equal(t, string(j.Grade), c.Grade)
		require.Equal(t, j.Command, c.Command)
		require.Equal(t, j.Effect != nil, c.Effect != nil && c.Interval != nil && c.N > 1, c.ID)
		if c.Effect != nil {
			require.InDelta(t, j.Effect.MeanDifference, *c.Effect, 1e-6)
			require.True(t, c.Interval[0] <= *c.Effect && *c.Effect <= c.Interval[1], c.ID)
		}
		require.Equal(t, c.Grade == string(judge.NotRun) && len(c.Records) == 0, len(c.Records) == 0, c.ID)
		for _, name := range c.Records {
			require.FileExists(t, filepath.Join("..", "..", "results", filepath.FromSlash(name)), c.ID)
		}
	}
}

func TestNumbersThatJSONLacksAreNullInClaims(t *testing.T) {
	require.Nil(t, finite(math.NaN()))
	require.Nil(t, finite(math.Inf(1)))
	require.Equal(t, 0.123457, *finite(0.1234567))
	a := Artifact{ID: "x", Claims: []Claim{{ID: "x/y", Subject: aboutGIN, Judge: func(*Evidence) Verdict {
		return Verdict{Grade: judge.CannotTell, Effect: &stats.TTest{N: 2, P: math.NaN(), Low: math.Inf(-1)}}
	}}}}
	e := newEvidence(t, nil)
	var text bytes.Buffer
	require.NoError(t, WriteClaims(&text, []Artifact{a}, e))
	require.Contains(t, text.String(), `"interval": null`)
	require.Contains(t, text.String(), `"p": null`)
	require.Contains(t, text.String(), `"records": []`)
}
