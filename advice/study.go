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
	lab  Lab
	seen map[string]map[uint64]record.Record
	next batch
}

type batch struct {
	what  string
	cells []record.Cell
	seeds []uint64
}

func (s *study) want(b batch) {
	if len(s.next.cells) == 0 {
		s.next = b
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

// choose returns the configuration with the best mean macro F1 on validation nodes. If trials are missing, choose
// queues these trials and returns -1.
func (s *study) choose(what string, cells []record.Cell) (best int, score float64, err error) {
	if len(cells) == 1 {
		return 0, 0, nil
	}
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
			s.want(batch{what, missing, []uint64{seed}})
			return -1, 0, nil
		}
		slices.SortStableFunc(left, func(a, b candidate) int { return cmp.Compare(b.total, a.total) })
	}
	return left[0].at, left[0].total / tries, nil
}

func lasting(n, round int) int {
	for range round {
		n = max((n+1)/2, min(n, 2))
	}
	return n
}

func choosing(n int) (trials int) {
	if n == 1 {
		return 0
	}
	for round := range tries {
		trials += lasting(n, round)
	}
	return trials
}

// A comparison pauses after firstSplits splits until every other comparison has as many splits or is settled.
const firstSplits = 40

// assess compares regularisers on the finished trials and queues the next trials.
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
	for _, limit := range []int{firstSplits, mostSplits()} {
		for i, q := range a.Questions {
			if err := s.ask(q, i*len(arms()), limit); err != nil {
				return nil, err
			}
		}
	}
	a.Left = s.left(a)
	a.finish()
	return a, nil
}

func (s *study) ask(q *Question, rank, limit int) error {
	configurations := plainConfigurations(q.Model, q.Setting)
	cells, err := s.cells(q, configurations[:1])
	if err != nil {
		return err
	}
	there, err := s.trials(cells[0])
	if err != nil {
		return err
	}
	first, ok := there[firstTry]
	if !ok {
		s.want(batch{q.title() + ": a first trial", cells, []uint64{firstTry}})
		return nil
	}
	q.seconds = patientCost * first.Seconds
	base := q.Arms[0]
	tried := s.affordable(q, plainArm, plainTried, 5)
	base.Chosen, base.Validation, err = s.tune(q, "scaling and normalisation", configurations[:tried])
	if err != nil || base.Chosen == nil {
		return err
	}
	q.Shared = shared(base.Chosen)
	for i, of := range arms() {
		tried := s.affordable(q, of, armTried, 10)
		a := q.Arms[1+i]
		a.Chosen, a.Validation, err = s.tune(q, "rates of "+of.name, of.configurations(base.Chosen)[:tried])
		if err != nil {
			return err
		}
		if a.Chosen == nil {
			continue
		}
		a.Words = of.words(a.Chosen)
		if err := s.compare(q, a, rank+i, limit); err != nil {
			return err
		}
	}
	q.collapse(s.Graph)
	return nil
}

func (s *study) tune(q *Question, what string, values []map[string]string) (map[string]string, float64, error) {
	cells, err := s.cells(q, values)
	if err != nil {
		return nil, 0, err
	}
	best, score, err := s.choose(q.title()+": choosing "+what, cells)
	if err != nil || best < 0 {
		return nil, 0, err
	}
	return values[best], score, nil
}

func (s *study) cells(q *Question, values []map[string]string) ([]record.Cell, error) {
	all := make([]record.Cell, len(values))
	for i, v := range values {
		var err error
		if all[i], err = s.cell(q.Model, q.Setting, v); err != nil {
			return nil, err
		}
		all[i].Parameters.Patience = shortPatience
	}
	return all, nil
}

func (s *study) cost(q *Question, of arm, trials int) time.Duration {
	return time.Duration((of.cost*q.seconds + 0.2) * float64(trials) / float64(s.Jobs) * float64(time.Second))
}

// affordable returns the first entry n of tried such that trying n configurations takes at most 1/share of the budget,
// or the last entry if all take more. The result depends only on the budget and the first trial's time, so that a
// resumed run chooses the same number.
func (s *study) affordable(q *Question, of arm, tried []int, share time.Duration) int {
	for _, n := range tried {
		if s.cost(q, of, choosing(n)) <= s.Budget/share {
			return n
		}
	}
	return tried[len(tried)-1]
}

// compare judges a regulariser on fresh splits. If the verdict is missing or unclear, compare queues more splits, up to
// limit.
func (s *study) compare(q *Question, a *Arm, rank, limit int) error {
	base := q.Arms[0]
	for _, arm := range []*Arm{base, a} {
		if err := s.fresh(q, arm); err != nil {
			return err
		}
	}
	if maps.Equal(a.Chosen, base.Chosen) {
		a.F1 = nil
		a.Verdict = Same
		return nil
	}
	n := min(len(a.F1), len(base.F1)) // after an interruption, one of the two has fewer scores
	a.F1 = a.F1[:n]
	if err := a.judge(base.F1[:n], rank); err != nil || a.settled() {
		return err
	}
	if at := slices.IndexFunc(looks(), func(look int) bool { return look > n }); at >= 0 && looks()[at] <= limit {
		s.want(batch{fmt.Sprintf("%s: %s on up to %d splits", q.title(), a.Name, looks()[at]),
			[]record.Cell{base.cell, a.cell}, hyper.Seeds(firstFresh, looks()[at])})
	}
	return nil
}

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
