package cached

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
)

// FeaturesIn returns the feature columns' names in a table, or nil if their number is not the model's or two are equal.
func (m *Model) FeaturesIn(names []string) []string {
	if len(names) != m.Features || len(slices.Compact(slices.Sorted(slices.Values(names)))) != m.Features {
		return nil
	}
	return names
}

// Match returns features in the model's column order and whether that moved any; without names, unchanged. Its error
// lists missing features.
func (m *Model) Match(names []string, f datasets.Features, file string) (_ datasets.Features, moved bool, err error) {
	if m.FeatureNames == nil || names == nil || slices.Equal(names, m.FeatureNames) {
		return f, false, nil
	}
	if err := m.Lacks(names, file); err != nil {
		return f, false, err
	}
	from := make([]int32, f.Width)
	for i, name := range m.FeatureNames {
		from[i] = int32(slices.Index(names, name))
	}
	return f.Rearranged(from), true, nil
}

// Lacks returns an error that lists the model's features missing from a table, or nil; nil too if the model has no
// names.
func (m *Model) Lacks(names []string, file string) error {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	var lacks []string
	for _, name := range m.FeatureNames {
		if !there[name] {
			lacks = append(lacks, fmt.Sprintf("%.60q", name))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	n, more := len(lacks), ""
	if n > 5 {
		lacks, more = lacks[:5], fmt.Sprintf(" and %d more", n-5)
	}
	return fmt.Errorf("%s: features that the model was trained on are missing: %s%s: expected columns of numbers with these names",
		file, strings.Join(lacks, ", "), more)
}
