package record

import (
	"errors"
	"fmt"
	"strings"
)

// Merge adds to s the trials that other has and s lacks, and returns their number. It skips trials that contradict one
// in s, and names them in the error.
func (s *Store) Merge(other *Store) (added int, err error) {
	more, err := other.Load()
	if err != nil {
		return 0, err
	}
	there, err := s.Load()
	if err != nil {
		return 0, err
	}
	known := map[trialID]Record{}
	for _, r := range there {
		known[idOf(r)] = r
	}
	var wrong []error
	for _, r := range more {
		have, ok := known[idOf(r)]
		if found := have.Differences(r); ok && len(found) > 0 && have.Digits == r.Digits {
			wrong = append(wrong, fmt.Errorf("%s: a record of %s, seed %d, %s, contradicts the one in %s: %s", other.folder, r.Cell,
				r.Seed, r.Backend, s.folder, strings.Join(found, "; ")))
			continue
		}
		if ok && have.CellOf().Measures(r.CellOf()) {
			continue
		}
		if err := s.Add(r); err != nil {
			return added, errors.Join(append(wrong, err)...)
		}
		known[idOf(r)] = r
		added++
	}
	return added, errors.Join(wrong...)
}
