// Package page writes web pages that train models in the browser ([Write]). A page runs cmd/nodemask-wasm, compiled to
// WebAssembly. The program's [Session] answers the page's script.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"nodemask/aggtree/explorer"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/stats"
)

// Request is a page's request. Kind determines which fields are set.
type Request struct {
	ID   int    `json:"id"`   // repeated in the answers
	Kind string `json:"kind"` // open, train, tree, compare or stop

	Data  string            `json:"data"`  // open, tree: data set, or name of the opened files
	Files map[string][]byte `json:"-"`     // open: the user's files
	Root  int32             `json:"root"`  // tree
	Hops  int               `json:"hops"`  // tree
	Cell  Cell              `json:"cell"`  // train
	Seed  uint64            `json:"seed"`  // train
	Watch bool              `json:"watch"` // train: report masked nodes and predictions
	Pace  int               `json:"pace"`  // train: pause after each epoch, in milliseconds
	// Records, for the request "compare", are trials, each as a JSON text.
	Records []string `json:"records"`
	Stop    int      `json:"stop"` // stop: the ID of the request to end
}

// Cell describes an experiment: [paper.Cell] with some values changed. Choices maps the name of a [record.Axis] to its
// new value.
type Cell struct {
	Data         string            `json:"data"`
	Model        string            `json:"model"`
	Setting      datasets.Setting  `json:"setting"`
	TrainPercent int               `json:"train"`
	Choices      map[string]string `json:"choices"`
}

// Cell converts c to a [record.Cell]. It returns an error if a field is invalid.
func (c Cell) Cell() (record.Cell, error) {
	if err := c.Setting.Check(); err != nil {
		return record.Cell{}, err
	}
	if c.TrainPercent < 1 || c.TrainPercent > 99 {
		return record.Cell{}, fmt.Errorf("%d %% to train on: expected 1 to 99", c.TrainPercent)
	}
	if _, err := hyper.For(c.Model); err != nil {
		return record.Cell{}, err
	}
	plain := paper.Cell(c.Data, c.Model, c.Setting, c.TrainPercent)
	chosen, err := plain.Choose(c.Choices)
	if err != nil || !chosen.Parameters.KeepRate.Active() {
		return chosen, err
	}
	return paper.Masked(plain, float64(chosen.Parameters.KeepRate)).Choose(c.Choices)
}

// Event is a session's answer to a request. Kind determines which fields are set. The last event of every request has a
// Kind other than "epoch".
type Event struct {
	ID   int    `json:"id"`
	Kind string `json:"kind"` // opened, epoch, trained, tree, compared, stopped or failed

	Error string `json:"error,omitempty"` // failed: message for the reader

	Graph *Graph `json:"graph,omitempty"` // opened

	// Fields of epoch events:
	Epoch          int       `json:"epoch,omitempty"`
	TrainLoss      float64   `json:"trainLoss,omitempty"`
	ValidationLoss float64   `json:"validationLoss,omitempty"`
	ValidationF1   float64   `json:"validationF1,omitempty"` // percent
	Masked         []int32   `json:"masked,omitempty"`       // of a watched epoch
	Classes        []int32   `json:"classes,omitempty"`      // of a watched epoch: predicted class per node; -1: none
	Milliseconds   float64   `json:"ms,omitempty"`
	Trained        *Trained  `json:"trained,omitempty"`
	Tree           any       `json:"tree,omitempty"` // tree: what the tree drawing reads
	Rows           []Compare `json:"rows,omitempty"` // compared
}

// Graph describes a data set.
type Graph struct {
	Name     string   `json:"name"`
	Nodes    int      `json:"nodes"`
	Edges    int64    `json:"edges"` // undirected
	Features int      `json:"features"`
	Classes  []string `json:"classes"` // training needs two classes, and features
	Start    int32    `json:"start"`   // a node with an instructive tree
}

// Trained is a finished trial.
type Trained struct {
	Record    string   `json:"record"`  // a line of results
	Command   string   `json:"command"` // command that repeats the trial; "" if the data exist only on the page
	Key       string   `json:"key"`
	Label     string   `json:"label"`
	F1        float64  `json:"f1"` // macro F1 on test nodes, in percent
	BestEpoch int      `json:"bestEpoch"`
	Epochs    int      `json:"epochs"`
	Seconds   float64  `json:"seconds"`
	Published *float64 `json:"published,omitempty"`
	Confusion [][]int  `json:"confusion"` // [class][predicted] test nodes
	Classes   []string `json:"classes"`
}

// Compare summarises an experiment's trials and compares them with those of the unmasked model.
type Compare struct {
	Key          string   `json:"key"`
	Label        string   `json:"label"`
	Data         string   `json:"data"`
	Setting      string   `json:"setting"`
	TrainPercent int      `json:"train"`
	Trials       int      `json:"trials"`
	Mean         float64  `json:"mean"`
	Spread       *float64 `json:"sd,omitempty"` // sample standard deviation; nil for a single trial
	Published    *float64 `json:"published,omitempty"`
	Pairs        int      `json:"pairs,omitempty"`      // pairs with the unmasked model, by seed and split
	Difference   *float64 `json:"difference,omitempty"` // from the unmasked model; nil without pairs
	P            *float64 `json:"p,omitempty"`          // of a two-sided paired t-test; nil with fewer than two pairs
}

// Session answers a page's requests. It is safe for concurrent use, but runs only one trial at a time.
type Session struct {
	backend *backend.Backend
	runner  *train.Runner

	training sync.Mutex // held by the request that trains
	mutex    sync.Mutex // guards the fields below
	graphs   map[string]*datasets.Graph
	cancel   map[int]context.CancelFunc
}

// NewSession returns a session that computes on a backend. Close it after use.
func NewSession(b *backend.Backend) *Session {
	r := train.NewRunner(b)
	r.Programs = 2 // one with masking, one without
	return &Session{backend: b, runner: r, graphs: map[string]*datasets.Graph{},
		cancel: map[int]context.CancelFunc{}}
}

// Close frees the session, which must not be used afterwards.
func (s *Session) Close() { s.runner.Close() }

// Handle answers one request by sending events; errors are events too.
func (s *Session) Handle(ctx context.Context, r Request, send func(Event)) {
	defer func() {
		if fault := recover(); fault != nil {
			send(Event{ID: r.ID, Kind: "failed", Error: fmt.Sprintf("this is a fault of the program, not of what was chosen: "+
				"%v\n%s", fault, debug.Stack())})
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mutex.Lock()
	s.cancel[r.ID] = cancel
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		delete(s.cancel, r.ID)
		s.mutex.Unlock()
	}()
	answer, err := s.answer(ctx, r, send)
	answer.ID = r.ID
	switch {
	case err != nil && ctx.Err() != nil:
		answer = Event{ID: r.ID, Kind: "stopped"}
	case err != nil:
		answer = Event{ID: r.ID, Kind: "failed", Error: err.Error()}
	}
	send(answer)
}

func (s *Session) answer(ctx context.Context, r Request, send func(Event)) (Event, error) {
	switch r.Kind {
	case "open":
		return s.open(ctx, r)
	case "train":
		return s.train(ctx, r, send)
	case "tree":
		return s.tree(ctx, r)
	case "compare":
		return s.compare(r)
	case "stop":
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if cancel := s.cancel[r.Stop]; cancel != nil {
			cancel()
		}
		return Event{Kind: "stopped"}, nil
	}
	return Event{}, fmt.Errorf("a request of kind %q: expected open, train, tree, compare or stop", r.Kind)
}

func inPages(name string) bool {
	return name == "cora" || name == "pubmed" || name == "sbm" || strings.HasPrefix(name, "sbm:")
}

func (s *Session) graph(ctx context.Context, name string) (*datasets.Graph, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if g := s.graphs[name]; g != nil {
		return g, nil
	}
	if !inPages(name) {
		return nil, fmt.Errorf("no data %.80q on this page: expected cora, pubmed, sbm, or files that were opened here", name)
	}
	g, err := datasets.Open(ctx, name, datasets.OpenOptions{})
	if err == nil {
		s.graphs[name] = g
	}
	return g, err
}

func (s *Session) open(ctx context.Context, r Request) (Event, error) {
	if r.Files != nil {
		g, err := datasets.ReadMemory(ctx, r.Data, r.Files)
		if err != nil {
			return Event{}, err
		}
		s.mutex.Lock()
		s.graphs[r.Data] = g
		s.mutex.Unlock()
	}
	g, err := s.graph(ctx, r.Data)
	if err != nil {
		return Event{}, err
	}
	return Event{Kind: "opened", Graph: &Graph{Name: g.Name, Nodes: g.NumNodes(), Edges: g.Edges.NumEdges() / 2,
		Features: g.Features.Width, Classes: g.Classes, Start: startOf(g)}}, nil
}

func startOf(g *datasets.Graph) int32 {
	for v := range int32(g.NumNodes()) {
		size, most := 0, 0
		for _, u := range g.Edges.Neighbours(v) {
			n := len(g.Edges.Neighbours(u))
			size, most = size+n, max(most, n)
		}
		if n := len(g.Edges.Neighbours(v)); n >= 3 && n <= 4 && most <= 4 && size >= 8 && size <= 12 {
			return v
		}
	}
	return 0
}

func (s *Session) tree(ctx context.Context, r Request) (Event, error) {
	g, err := s.graph(ctx, r.Data)
	if err != nil {
		return Event{}, err
	}
	if r.Root < 0 || int(r.Root) >= g.NumNodes() {
		return Event{}, fmt.Errorf("node %d: expected 0 to %d", r.Root, g.NumNodes()-1)
	}
	o := explorer.Options{Names: g.NodeIDs, Labels: g.Labels, Classes: g.Classes}
	data, err := explorer.Data(g.Edges, r.Root, r.Hops, o)
	if err != nil {
		return Event{}, err
	}
	return Event{Kind: "tree", Tree: json.RawMessage(data)}, nil
}

func (s *Session) train(ctx context.Context, r Request, send func(Event)) (Event, error) {
	c, err := r.Cell.Cell()
	if err != nil {
		return Event{}, err
	}
	g, err := s.graph(ctx, c.Data)
	if err != nil {
		return Event{}, err
	}
	if err := g.CheckTrainable(); err != nil {
		return Event{}, fmt.Errorf("%s can be looked at, but not trained on: %w", g.Name, err)
	}
	if r.Seed == 0 {
		return Event{}, errors.New("seed 0: expected 1 or more")
	}
	s.training.Lock()
	defer s.training.Unlock()
	if err := ctx.Err(); err != nil {
		return Event{}, err
	}
	x := measure.Experiment(c, g)
	x.Smoothness = g.NumNodes() <= 5000 // measuring smoothness takes all pairs of nodes
	began := time.Now()
	var watching error
	result, err := s.runner.Trial(ctx, x, r.Seed, func(epoch int, e train.Epoch) {
		event := Event{ID: r.ID, Kind: "epoch", Epoch: epoch, TrainLoss: e.TrainLoss, ValidationLoss: e.ValidationLoss,
			ValidationF1: 100 * e.ValidationF1,
			Milliseconds: float64(time.Since(began).Microseconds()) / 1000}
		if r.Watch && watching == nil {
			event.Masked = s.runner.Masked()
			event.Classes, watching = s.runner.Predict()
		}
		send(event)
		if r.Pace > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(min(time.Duration(r.Pace)*time.Millisecond, slowest)):
			}
		}
		began = time.Now()
	})
	if err := errors.Join(err, watching); err != nil {
		return Event{}, err
	}
	stored := measure.Stored(c, x, s.backend, result)
	stored.Date = time.Now().UTC().Format(time.RFC3339)
	line, err := record.Line(stored)
	if err != nil {
		return Event{}, err
	}
	done := &Trained{Record: string(line), Key: c.Key(), Label: report.Label(c), F1: stored.MacroF1,
		BestEpoch: stored.BestEpoch, Epochs: stored.Epochs,
		Seconds: stored.Seconds, Confusion: result.Test.Confusion, Classes: g.Classes}
	if published, ok := report.PublishedF1(c); ok {
		done.Published = &published
	}
	if inPages(c.Data) {
		done.Command = fmt.Sprintf("%s --seed %d --backend go", strings.TrimSuffix(c.Command(1), " --json"), r.Seed)
	}
	return Event{Kind: "trained", Trained: done}, nil
}

const slowest = 5 * time.Second

func (s *Session) compare(r Request) (Event, error) {
	var records []record.Record
	for i, line := range r.Records {
		one, err := record.Parse([]byte(line))
		if err != nil {
			return Event{}, fmt.Errorf("line %d: %w", i+1, err)
		}
		records = append(records, one)
	}
	results := record.NewResults(records)
	event := Event{Kind: "compared"}
	seen := map[string]bool{}
	for _, one := range records {
		c := one.CellOf()
		if seen[c.Key()] {
			continue
		}
		seen[c.Key()] = true
		values := results.Values(c, record.MacroF1)
		summary := stats.Summarize(values)
		row := Compare{Key: c.Key(), Label: report.Label(c), Data: c.Data, Setting: string(c.Setting),
			TrainPercent: c.TrainPercent, Trials: summary.N, Mean: summary.Mean}
		if summary.N > 1 {
			row.Spread = &summary.StdDev
		}
		if published, ok := report.PublishedF1(c); ok {
			row.Published = &published
		}
		if c.Parameters.KeepRate.Active() {
			plain := report.Unmasked(c)
			if of := results.Compare(c, record.MacroF1, plain, record.MacroF1); of.Trials > 0 {
				row.Pairs, row.Difference = of.Trials, &of.Difference
				if of.Trials > 1 {
					row.P = &of.P
				}
			}
		}
		event.Rows = append(event.Rows, row)
	}
	return event, nil
}
