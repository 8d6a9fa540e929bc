package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/internal/safetensors"
)

// A checkpoint is a safetensors file with all training state after an epoch. Cached representations have two files per
// layer: an epoch reads one and writes the other, never what the checkpoint needs.

var checkpointKind = safetensors.Kind{Name: "checkpoint", Remedy: "delete the folder of checkpoints and train again"}

const (
	identityKey   = "identity"
	generatorsKey = "generators"
	validationKey = "validation"
	currentKey    = "cache"
	statePrefix   = "state:"
	bestPrefix    = "best:"
	historyName   = "history"
)

func (t *batchTrainer) checkpoint(seed uint64) string {
	return filepath.Join(t.options.Checkpoint, fmt.Sprintf("seed-%d.safetensors", seed))
}

// cacheName names a cached layer's file; "" without checkpoints.
func (t *batchTrainer) cacheName(seed uint64, set, layer int) string {
	if t.options.Checkpoint == "" {
		return ""
	}
	return fmt.Sprintf("seed-%d-layer%d-%d.cache", seed, layer, set)
}

func (t *batchTrainer) cacheFolder() string {
	if t.options.Checkpoint == "" {
		return t.options.Folder
	}
	return t.options.Checkpoint
}

func (t *batchTrainer) sources() []*rand.PCG {
	return []*rand.PCG{t.draws.Masks, t.draws.Keys, t.draws.Order}
}

func (t *batchTrainer) own() (free func(), err error) {
	if err := os.MkdirAll(t.options.Checkpoint, 0o755); err != nil {
		return nil, err
	}
	// Read and write: opening a pipe read-only would wait for a writer.
	lock := flock.New(filepath.Join(t.options.Checkpoint, ".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("%s: another process trains into this folder: wait for it, or name another",
			t.options.Checkpoint)
	}
	return func() { _ = lock.Unlock() }, nil // the system unlocks at exit
}

// save writes a checkpoint; t.caches[0] must hold the epoch's representations.
func (t *batchTrainer) save(trial *Result) error {
	for _, i := range t.readers {
		if err := t.caches[0][i].Sync(); err != nil {
			return err
		}
	}
	var states []string
	for _, s := range t.sources() {
		state, err := s.MarshalBinary()
		if err != nil {
			return err
		}
		states = append(states, hex.EncodeToString(state))
	}
	validation, err := json.Marshal(trial.Validation)
	if err != nil {
		return err
	}
	file := safetensors.New(checkpointKind.Name, map[string]string{identityKey: t.options.identity,
		generatorsKey: strings.Join(states, " "),
		validationKey: string(validation), currentKey: strconv.Itoa(t.current)})
	for v := range t.train.store.IterVariables() {
		if !learn.Owns(v) {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return gomlx.Error(err)
		}
		of, err := codecOf(v)
		if err == nil {
			err = of.add(file, statePrefix+v.Path(), value)
		}
		if err != nil {
			return err
		}
	}
	for _, w := range trial.Weights {
		safetensors.Add(file, bestPrefix+w.Path, w.Values, w.Dimensions...)
	}
	// As bits: a loss may be NaN.
	var history []int64
	for _, e := range trial.History {
		for _, x := range []float64{e.TrainLoss, e.ValidationLoss, e.ValidationF1, e.ValidationAccuracy} {
			history = append(history, int64(math.Float64bits(x)))
		}
	}
	safetensors.Add(file, historyName, history, len(trial.History), 4)
	return file.WriteFile(t.checkpoint(trial.Seed))
}

type codec struct {
	add  func(file *safetensors.Builder, name string, value *tensors.Tensor) error
	read func(file *safetensors.File, v *model.Variable) error
}

func codecOf(v *model.Variable) (codec, error) {
	switch kind := v.DType(); kind {
	case dtypes.Float32:
		return codec{addNumbers[float32], readNumbers[float32]}, nil
	case dtypes.Int64:
		return codec{addNumbers[int64], readNumbers[int64]}, nil
	default:
		return codec{}, fmt.Errorf("variable %s is of type %s, which checkpoints do not keep", v.Path(), kind)
	}
}

func addNumbers[T float32 | int64](file *safetensors.Builder, name string, value *tensors.Tensor) error {
	values, err := tensors.CopyFlatData[T](value)
	if err != nil {
		return gomlx.Error(err)
	}
	safetensors.Add(file, name, values, value.Shape().Dimensions...)
	return nil
}

// resume restores a trial's checkpoint and t.current; nil if none exists.
func (t *batchTrainer) resume(seed uint64) (trial *Result, err error) {
	if t.options.Checkpoint == "" {
		return nil, nil
	}
	path := t.checkpoint(seed)
	file, err := safetensors.Open(path, checkpointKind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() // all is copied
	err = safetensors.Guard(path, func() error {
		trial, err = t.read(file, path)
		return err
	})
	if trial != nil {
		trial.Seed = seed
	}
	return trial, err
}

func (t *batchTrainer) read(file *safetensors.File, path string) (*Result, error) {
	identity, err := file.Metadata(identityKey)
	if err != nil {
		return nil, err
	}
	if identity != t.options.identity {
		return nil, fmt.Errorf("%s: the checkpoint of other data or settings: what differs is: %s: name another folder, or "+
			"train as before",
			path, differences(identity, t.options.identity))
	}
	states, err := file.Metadata(generatorsKey)
	if err != nil {
		return nil, err
	}
	parts := strings.Fields(states)
	if len(parts) != len(t.sources()) {
		return nil, fmt.Errorf("%s: %d states of generators: expected %d", path, len(parts), len(t.sources()))
	}
	for i, s := range t.sources() {
		state, err := hex.DecodeString(parts[i])
		if err == nil {
			err = s.UnmarshalBinary(state)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: the state of generator %d: %w", path, i, err)
		}
	}
	trial := &Result{}
	text, err := file.Metadata(validationKey)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &trial.Validation); err != nil {
		return nil, fmt.Errorf("%s: what was measured: %w", path, err)
	}
	if text, err = file.Metadata(currentKey); err != nil {
		return nil, err
	}
	if t.current, err = strconv.Atoi(text); err != nil || t.current < 0 || t.current > 1 {
		return nil, fmt.Errorf("%s: cache %.20q: expected 0 or 1", path, text)
	}
	history, shape, err := safetensors.Get[int64](file, historyName, safetensors.Any, 4)
	if err != nil {
		return nil, err
	}
	for i := range shape[0] {
		at := func(j int) float64 { return math.Float64frombits(uint64(history[4*i+j])) }
		trial.History = append(trial.History, Epoch{TrainLoss: at(0), ValidationLoss: at(1), ValidationF1: at(2),
			ValidationAccuracy: at(3)})
	}
	for v := range t.train.store.IterVariables() {
		if !learn.Owns(v) {
			continue
		}
		of, err := codecOf(v)
		if err == nil {
			err = of.read(file, v)
		}
		if err != nil {
			return nil, err
		}
		if gomlx.IsWeight(v) && file.Has(bestPrefix+v.Path()) {
			values, shape, err := safetensors.Get[float32](file, bestPrefix+v.Path(), v.Shape().Dimensions...)
			if err != nil {
				return nil, err
			}
			trial.Weights = append(trial.Weights, infer.Weight{Path: v.Path(), Dimensions: shape, Values: slices.Clone(values)})
		}
	}
	return trial, nil
}

func readNumbers[T float32 | int64](file *safetensors.File, v *model.Variable) error {
	dimensions := v.Shape().Dimensions
	values, _, err := safetensors.Get[T](file, statePrefix+v.Path(), dimensions...)
	if err != nil {
		return err
	}
	return gomlx.Error(v.SetValue(tensors.FromFlatDataAndDimensions(values, dimensions...)))
}

func (t *batchTrainer) cacheSize(layer int) int {
	return t.train.phase.Edges.NumNodes() * t.train.rows[layer].Shape().Dimensions[1]
}

func (t *batchTrainer) checkCaches(seed uint64) error {
	for _, i := range t.readers {
		path, want := filepath.Join(t.cacheFolder(), t.cacheName(seed, t.current, i)), 4*int64(t.cacheSize(i))
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("the cached representations of a checkpoint: %w: %s", err, checkpointKind.Remedy)
		}
		if info.Size() != want {
			return fmt.Errorf("%s: %d bytes of cached representations: expected %d: %s", path, info.Size(), want,
				checkpointKind.Remedy)
		}
	}
	return nil
}

func (t *batchTrainer) openCaches(seed uint64) error {
	t.closeCaches()
	for set := range t.caches {
		t.caches[set] = make([]*safetensors.Array[float32], len(t.model.Layers))
		for _, i := range t.readers {
			var err error
			if t.caches[set][i], err = safetensors.NewArray[float32](t.cacheFolder(), t.cacheName(seed, set^t.current, i),
				t.cacheSize(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *batchTrainer) closeCaches() {
	for _, of := range t.caches {
		for _, cache := range of {
			_ = cache.Close() // already synced
		}
	}
	t.caches = [2][]*safetensors.Array[float32]{}
}

func (t *batchTrainer) dropCaches(seed uint64) {
	t.closeCaches()
	for set := range t.caches {
		for _, i := range t.readers {
			if name := t.cacheName(seed, set, i); name != "" {
				_ = os.Remove(filepath.Join(t.cacheFolder(), name)) // if it stays it is overwritten
			}
		}
	}
}

// identity holds all that determines a trial's results, except its seed. The error that refuses a checkpoint prints its
// keys.
type identity struct {
	Version    string            `json:"version"`
	Data       string            `json:"data"`
	Features   string            `json:"features"` // SHA-256, like edges, labels and split
	Edges      string            `json:"edges"`
	Labels     string            `json:"labels"`
	Split      string            `json:"split"`
	Setting    datasets.Setting  `json:"setting"`
	Arrivals   datasets.Arrivals `json:"arrivals"`
	Backend    string            `json:"backend"`
	Digits     string            `json:"digits"` // see [backend.Backend]
	Batches    int               `json:"batches"`
	Parameters hyper.Parameters  `json:"hyperparameters"`
}

func identify(b *backend.Backend, x Experiment, split *datasets.Split, o Batches,
	content identity) (string, error) {
	if o.Version == "" {
		return "", errors.New("checkpoints of a program without a version: expected one")
	}
	id := content
	id.Version, id.Split = o.Version, split.Hash()
	id.Setting, id.Arrivals, id.Parameters = x.Setting, x.Arrivals, x.Parameters
	id.Backend, id.Digits = fmt.Sprintf("%s, %s kernels", b.ID, b.Kernel()), b.Digits
	id.Batches = o.Clusters
	text, err := json.Marshal(id)
	return string(text), err
}

func contentOf(g *datasets.Graph, release func()) identity {
	sum := func(put func(h hash.Hash)) string {
		h := sha256.New()
		put(h)
		return fmt.Sprintf("%x", h.Sum(nil)[:16])
	}
	return identity{Data: g.Name,
		Features: sum(func(h hash.Hash) {
			f := g.Features
			fmt.Fprintln(h, f.Rows, f.Width, f.IsSparse()) // dropout draws per stored value
			putNumbers(h, f.Dense, release)
			putNumbers(h, f.Offsets, release)
			putNumbers(h, f.Columns, release)
			putNumbers(h, f.Values, release)
		}),
		Edges: sum(func(h hash.Hash) {
			putNumbers(h, g.Edges.Offsets, release)
			putNumbers(h, g.Edges.Indices, release)
		}),
		Labels: sum(func(h hash.Hash) {
			fmt.Fprintf(h, "%q", g.Classes)
			putNumbers(h, g.Labels, release)
		})}
}

func putNumbers[T int32 | int64 | float32](h hash.Hash, numbers []T, release func()) {
	fmt.Fprintln(h, len(numbers))
	for part := range slices.Chunk(numbers, numbersAtOnce) {
		_ = binary.Write(h, binary.LittleEndian, part) // a hash never fails
		if release != nil {
			release()
		}
	}
}

func differences(was, now string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(was), &a) != nil || json.Unmarshal([]byte(now), &b) != nil {
		return "version"
	}
	var names []string
	for name := range b {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
