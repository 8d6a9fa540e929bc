package paper

// Claim is a statement that data can bear out or not.
type Claim struct {
	ID, Text string
	Needs    []Cell // beyond the artifact's own
}

func claimsOf(Artifact) []Claim { return nil }
