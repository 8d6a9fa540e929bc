package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

type study struct {
	*Options
	lab   Lab
	seen  map[string]map[uint64]record.Record
	next  batch
	tried int // configurations per arm
}

type batch struct {
	stage int // lowest first; equal stages run together
	what  string
	cells []record.Cell
	seeds []uint64
}

// want queues a batch, unless an earlier stage is queued.
func (s *study) want(b batch) {
	switch {
	case len(b.cells) == 0:
	case len(s.next.cells) == 0 || b.stage < s.next.stage:
		s.next = b
	case b.stage == s.next.stage:
		s.next.cells = append(s.next.cells, b.cells...)
	}
}

func (s *study) trials(c record.Cell) (map[uint64]record.Record, error) {
	key := c.Key()
	if s.seen[key] == nil {
		all, err := s.lab.Trials(c)
		if err != nil {
			return nil, err
		}
		s.seen[key] = map[uint64]record.Record{}
		for _, r := range all {
			s.seen[key][r.Seed] = r
		}
	}
	return s.seen[key], nil
}

func (s *study) there(b batch) (n int, err error) {
	for _, c := range b.cells {
		trials, err := s.trials(c)
		if err != nil {
			return 0, err
		}
		for _, seed := range b.seeds {
			if _, ok := trials[seed]; ok {
				n++
			}
		}
	}
	return n, nil
}

// choose returns the best configuration by mean validation macro F1, or queues missing trials and returns -1. All run
// on the first split, the better half on the second, half of these (at least two) on the third.
func (s *study) choose(stage int, what string, cells []record.Cell) (best int, score float64, err error) {
	type candidate struct {
		at    int
		total float64
	}
	var left []candidate
	for i := range cells {
		left = append(left, candidate{at: i})
	}
	for round, seed := range hyper.Seeds(firstTry, tries) {
		left = left[:lasting(len(cells), round)]
		var missing []record.Cell
		for i := range left {
			there, err := s.trials(cells[left[i].at])
			if err != nil {
				return -1, 0, err
			}
			r, ok := there[seed]
			if !ok {
				missing = append(missing, cells[left[i].at])
			}
			left[i].total += r.ValidationF1
		}
		if len(missing) > 0 {
			s.want(batch{stage + round, what, missing, []uint64{seed}})
			return -1, 0, nil
		}
		slices.SortStableFunc(left, func(a, b candidate) int { return cmp.Compare(b.total, a.total) })
	}
	return left[0].at, left[0].total / tries, nil
}

// lasting returns how many of n configurations reach a round, from 0.
func lasting(n, round int) int {
	for range round {
		n = max((n+1)/2, min(n, 2))
	}
	return n
}

func choosing(n int) (trials int) {
	for round := range tries {
		trials += lasting(n, round)
	}
	return trials
}

// Stages, lowest first. Every question gets one trial; the one that validates best runs up to [firstSplits] splits,
// then the next.
const (
	stagePlain    = 0 // one per round of choosing
	stageKin      = stagePlain + tries
	stageKinFresh = stageKin + tries
	stageArms     = stageKinFresh + kinSplits + 1
	stageFresh    = stageArms + tries
	stages        = stageFresh + firstSplits + 1 // per question
	stageLast     = 1 << 20

	kinSplits   = 22
	firstSplits = 40
)

func (s *study) assess() (*Advice, error) {
	a := &Advice{Data: s.Data, TrainPercent: s.TrainPercent, Nodes: s.Graph.NumNodes(),
		ValidationNodes: s.validationNodes, Budget: s.Budget, Comparisons: s.comparisons()}
	for _, model := range s.Models {
		for _, setting := range s.Settings {
			q := &Question{Model: model, Setting: setting, Arms: []*Arm{{Name: plain}}}
			for _, arm := range arms() {
				q.Arms = append(q.Arms, &Arm{Name: arm.name})
			}
			a.Questions = append(a.Questions, q)
		}
	}
	order, err := s.order(a.Questions)
	if err != nil {
		return nil, err
	}
	for rank, q := range order {
		if err := s.ask(q, 1+rank*stages); err != nil {
			return nil, err
		}
	}
	a.Left = s.left(a)
	a.finish()
	return a, nil
}

// order sorts questions by one trial's validation score.
func (s *study) order(questions []*Question) ([]*Question, error) {
	for _, q := range questions {
		cells, err := s.cells(q, plainConfigurations(q.Model)[:1])
		if err != nil {
			return nil, err
		}
		there, err := s.trials(cells[0])
		if err != nil {
			return nil, err
		}
		first, ok := there[firstTry]
		if !ok {
			s.want(batch{0, "a first trial of each model", cells, []uint64{firstTry}})
		}
		q.First = first.ValidationF1
	}
	order := slices.Clone(questions)
	slices.SortStableFunc(order, func(a, b *Question) int { return cmp.Compare(b.First, a.First) })
	return order, nil
}

func (s *study) ask(q *Question, from int) error {
	if err := s.tunePlain(q, from+stagePlain); err != nil || q.Arms[0].Chosen == nil {
		return err
	}
	s.tried = s.affordable(q)
	if err := s.tuneArms(q, 0, kin, from+stageKin); err != nil {
		return err
	}
	masks := q.Arms[1 : 1+kin]
	if slices.ContainsFunc(masks, func(a *Arm) bool { return a.Chosen == nil }) {
		return nil
	}
	if err := s.compare(q, from); err != nil {
		return err
	}
	if slices.ContainsFunc(masks, func(a *Arm) bool { return !a.settled() && len(a.F1) < kinSplits }) {
		return nil
	}
	if err := s.tuneArms(q, kin, len(arms()), from+stageArms); err != nil {
		return err
	}
	return s.compare(q, from)
}

func (s *study) tunePlain(q *Question, stage int) error {
	values := plainConfigurations(q.Model)
	cells, err := s.cells(q, values)
	if err != nil {
		return err
	}
	best, score, err := s.choose(stage, "choosing scaling and normalisation of "+hyper.Title(q.Model), cells)
	if err != nil {
		return err
	}
	n := 0
	for _, c := range cells {
		for _, seed := range hyper.Seeds(firstTry, tries) { // later trials must not change the plan
			if r, ok := s.seen[c.Key()][seed]; ok {
				q.seconds += r.Seconds
				n++
			}
		}
	}
	q.seconds *= patientCost / float64(max(n, 1))
	if best >= 0 {
		q.Arms[0].Chosen, q.Arms[0].Validation, q.Shared = values[best], score, shared(values[best])
	}
	return nil
}

func (s *study) cells(q *Question, values []map[string]string) ([]record.Cell, error) {
	all := make([]record.Cell, len(values))
	for i, v := range values {
		var err error
		if all[i], err = s.cell(q.Model, q.Setting, v); err != nil {
			return nil, err
		}
		all[i].Parameters.Patience = impatient
	}
	return all, nil
}

// longestFirst makes jobs end together.
func (a *Advice) longestFirst(cells []record.Cell) {
	seconds := func(c record.Cell) float64 {
		at := slices.IndexFunc(a.Questions, func(q *Question) bool {
			return q.Model == c.Parameters.Model && q.Setting == c.Setting
		})
		for _, arm := range arms() {
			if c.Parameters.Regulariser != "" && arm.prefix == string(c.Parameters.Regulariser)+":" {
				return arm.cost * a.Questions[at].seconds
			}
		}
		return a.Questions[at].seconds
	}
	slices.SortStableFunc(cells, func(a, b record.Cell) int { return cmp.Compare(seconds(b), seconds(a)) })
}

func (s *study) cost(q *Question, of arm, trials int) time.Duration {
	return time.Duration((of.cost*q.seconds + 0.2) * float64(trials) / float64(s.Jobs) * float64(time.Second))
}

// affordable returns the number of configurations per arm; choosing should take at most two fifths of the budget. Only
// records and budget decide: a second call chooses alike.
func (s *study) affordable(q *Question) int {
	for _, n := range []int{mostTried, mostTried / 2} { // with and without the other dropout
		if s.tuning(q, n) <= 2*s.Budget/5 {
			return n
		}
	}
	return fewTried
}

func (s *study) tuning(q *Question, n int) (total time.Duration) {
	for _, arm := range arms() {
		total += s.cost(q, arm, choosing(n))
	}
	return total
}

func (s *study) tuneArms(q *Question, from, to, stage int) error {
	for i, arm := range arms()[from:to] {
		values := arm.configurations(q.Arms[0].Chosen)[:s.tried]
		cells, err := s.cells(q, values)
		if err != nil {
			return err
		}
		best, score, err := s.choose(stage, "choosing rates for "+hyper.Title(q.Model), cells)
		if err != nil {
			return err
		}
		if best >= 0 {
			a := q.Arms[1+from+i]
			a.Chosen, a.Validation, a.Words = values[best], score, arm.words(values[best])
		}
	}
	return nil
}

// compare tests arms on fresh splits, and queues more for open arms.
func (s *study) compare(q *Question, from int) error {
	var compared []*Arm
	all := true
	for _, a := range q.Arms {
		if a.Chosen == nil {
			all = false
			continue
		}
		if err := s.fresh(q, a); err != nil {
			return err
		}
		// An interrupted round may leave the plain model behind.
		a.F1 = a.F1[:min(len(a.F1), len(q.Arms[0].F1))]
		compared = append(compared, a)
	}
	q.collapse(s.Graph, compared)
	next := 0
	var cells []record.Cell
	for _, a := range compared[1:] {
		if maps.Equal(a.Chosen, q.Arms[0].Chosen) {
			a.Verdict = Same
			continue
		}
		n := len(a.F1)
		if err := a.judge(q.Arms[0].F1[:n], a.F1, alpha/float64(s.comparisons())); err != nil {
			return err
		}
		if a.settled() {
			continue
		}
		at := slices.IndexFunc(looks(), func(look int) bool { return look > n })
		if at < 0 || !all && looks()[at] > kinSplits {
			continue
		}
		if look := looks()[at]; next == 0 || look < next {
			next, cells = look, nil
		}
		if looks()[at] == next {
			cells = append(cells, a.cell)
		}
	}
	if next == 0 {
		return nil
	}
	stage := from + stageFresh + next
	switch {
	case !all:
		stage = from + stageKinFresh + next
	case next > firstSplits:
		stage = stageLast + next
	}
	s.want(batch{stage, fmt.Sprintf("comparing %s on up to %d fresh splits", hyper.Title(q.Model), next),
		append(cells, q.Arms[0].cell), hyper.Seeds(firstFresh, next)})
	return nil
}

// fresh sets an arm's cell, command and scores, up to the first missing split.
func (s *study) fresh(q *Question, a *Arm) error {
	c, err := s.cell(q.Model, q.Setting, a.Chosen)
	if err != nil {
		return err
	}
	there, err := s.trials(c)
	if err != nil {
		return err
	}
	a.cell = c
	c.Data = s.Data
	a.Command = strings.TrimSuffix(c.Command(10), " --json")
	a.F1 = nil
	for seed := uint64(firstFresh); ; seed++ {
		r, ok := there[seed]
		if !ok {
			break
		}
		a.F1 = append(a.F1, r.MacroF1)
	}
	a.F1 = a.F1[:seenAt(len(a.F1))]
	return nil
}
