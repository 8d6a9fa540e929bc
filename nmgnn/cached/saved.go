package cached

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/safetensors"
	"nodemask/nmgnn/internal/variables"
)

// What models and caches are called in files, and what to do if one is damaged.
var (
	modelKind = safetensors.Kind{Name: "model", Remedy: "get it again, or train the model again"}
	cacheKind = safetensors.Kind{Name: "cache", Within: "model", Remedy: "get it again, or train the model again and save " +
		"both"}
)

// Keys of the metadata. docs/FORMATS.md says what each holds.
const (
	settingsKey    = "settings"
	classesKey     = "classes"
	featuresKey    = "features"
	namesKey       = "feature_names"
	dataKey        = "data"
	seedKey        = "seed"
	fingerprintKey = "fingerprint"
	ofModelKey     = "model"
	ownKey         = "own_layers"
)

// Model is a trained model as a file keeps it, with all that predicting needs.
type Model struct {
	Settings hyper.Parameters `json:"settings"`
	Classes  []string         `json:"classes"`  // names, by number
	Features int              `json:"features"` // numbers a node
	Data     string           `json:"data"`     // what it was trained on
	Seed     uint64           `json:"seed"`
	// FeatureNames are the columns that the features come from, in the model's order; nil: not known. They are no part of
	// the fingerprint.
	FeatureNames []string `json:"-"`
	// Weights by path, as training left them at the best epoch.
	Weights []infer.Weight `json:"-"`
	// Own is a model of one's own layers, whose weights these are; Settings then name no model. A file does not hold it:
	// [LoadOwn] is given it again. nil: the model that Settings describe.
	Own *nmgnn.Model `json:"-"`
}

// Fingerprint returns a hash that tells models apart: a cache belongs to the one model that filled it.
func (m *Model) Fingerprint() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(m) // a hash takes everything
	for _, w := range m.Weights {
		fmt.Fprintf(h, "%s %v\n", w.Path, w.Dimensions)
		_ = binary.Write(h, binary.LittleEndian, w.Values)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Network returns the saved model as one that runs over any graph: once, with nothing masked or dropped. What a trial
// with DropGNN predicts is the average of several runs, which this is not.
func (m *Model) Network() infer.Model {
	network := infer.Model{Weights: m.Weights, NormalizeFeatures: m.Settings.NormalizeFeatures}
	if m.Own != nil {
		network.Model = *m.Own
	} else {
		network.Model = nmgnn.Build(m.Settings, len(m.Classes))
	}
	return network
}

// layers is how many layers the model has.
func (m *Model) layers() int {
	if m.Own != nil {
		return len(m.Own.Layers)
	}
	return m.Settings.Layers
}

// scope is what the paths of all weights begin with.
const scope = "/" + variables.ModelScope + "/"

// tensorName is a weight's name in a file: layer0.linear0.weights for /model/layer0/linear0/weights.
func tensorName(path string) (string, error) {
	name := strings.ReplaceAll(strings.TrimPrefix(path, scope), "/", ".")
	if weightPath(name) != path {
		return "", fmt.Errorf("weights %q: expected a path that begins with %s and has no dots", path, scope)
	}
	return name, nil
}

// weightPath is the path of the weight that a file's tensor holds.
func weightPath(name string) string { return scope + strings.ReplaceAll(name, ".", "/") }

// Save writes the model to a safetensors file, whole or not at all. docs/FORMATS.md says what the tensors are called,
// and what each multiplies. It returns an error, and leaves a file that is there, for a model that [LoadModel] would
// refuse: one without weights, or whose settings are invalid or have DropGNN.
func (m *Model) Save(path string) error { return m.builder().WriteFile(path) }

// SaveWith writes the model and its cache into one file, as [Model.Save] does. [LoadModel] reads the model of it, and
// [LoadCache] the cache.
func (m *Model) SaveWith(path string, c *Cache) error {
	file := m.builder()
	if err := c.put(file, withinModel, m); err != nil {
		file = safetensors.Failed(modelKind.Name, err)
	}
	return file.WriteFile(path)
}

// SaveBoth saves a model and its cache, each as by Save. Both are whole on the disk before either takes its name, so
// that an error leaves the old pair or the new one. While they take their names the old cache is kept under a third
// one, by which [LoadCache] finds it if the program is killed then: there is the old pair or the new one. On a file
// system without hard links a kill at that moment leaves neither. It returns an error if the model or the cache is nil:
// a trial keeps a cache if its experiment has Keep.
func SaveBoth(m *Model, modelPath string, c *Cache, cachePath string) error {
	// The old cache stays if the model cannot take its name: whichever model is there then has its own.
	if err := m.builder().WriteFileAfter(modelPath, func() error {
		return c.builder(m).WriteFileAfter(cachePath, func() error {
			keepOld(modelPath, cachePath)
			return nil
		})
	}); err != nil {
		return err
	}
	_ = os.Remove(oldOf(cachePath)) // it belongs to no model any more
	return nil
}

// oldOf is where an old cache is kept.
func oldOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".old")
}

// keepOld gives a cache that is about to be replaced another name. What a program that was killed has kept stays, if
// that is what the model needs.
func keepOld(modelPath, cachePath string) {
	old := oldOf(cachePath)
	if _, err := os.Lstat(old); err == nil {
		if m, err := LoadModel(modelPath); err == nil {
			c, err := loadCache(cachePath, m)
			if err != nil {
				return
			}
			_ = c.Close() // it was only looked at
		}
		_ = os.Remove(old) // if it stays, the link fails
	}
	_ = os.Link(cachePath, old) // without hard links, or a cache, nothing is kept
}

// CheckText returns an error if a name is not UTF-8: files that hold it would be of something else when they are read.
func CheckText(what string, names []string) error {
	for i, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("%s %d is %.60q, which is not UTF-8 and cannot be saved: convert the file that it is "+
				"from, as by iconv -f latin1 -t utf8", what, i, name)
		}
	}
	return nil
}

// described is what a file's metadata has as JSON, by key.
func (m *Model) described() map[string]any {
	return map[string]any{settingsKey: &m.Settings, classesKey: &m.Classes, featuresKey: &m.Features, seedKey: &m.Seed,
		namesKey: &m.FeatureNames}
}

func (m *Model) builder() *safetensors.Builder {
	if err := m.check(); err != nil {
		return safetensors.Failed(modelKind.Name, err)
	}
	if err := cmp.Or(errors.Join(CheckText("class", m.Classes), CheckText("feature", m.FeatureNames),
		CheckText("data set", []string{m.Data}))); err != nil {
		return safetensors.Failed(modelKind.Name, err)
	}
	metadata := map[string]string{dataKey: m.Data, fingerprintKey: m.Fingerprint()}
	for key, value := range m.described() {
		text, err := json.Marshal(value)
		if err != nil {
			return safetensors.Failed(modelKind.Name, fmt.Errorf("its %s: %w", key, err))
		}
		metadata[key] = string(text)
	}
	if m.FeatureNames == nil {
		delete(metadata, namesKey)
	}
	if m.Own != nil {
		metadata[ownKey] = strconv.Itoa(m.layers())
	}
	file := safetensors.New(modelKind.Name, metadata)
	for _, w := range m.Weights {
		name, err := tensorName(w.Path)
		if err != nil {
			return safetensors.Failed(modelKind.Name, err)
		}
		safetensors.Add(file, name, w.Values, w.Dimensions...)
	}
	return file
}

// LoadModel reads a model that [Model.Save] or [Model.SaveWith] wrote. It returns an error that names the file unless
// that is whole by its checksums, its settings are valid and predict by one run ([hyper.Parameters.CheckOneRun]), it
// has features, classes and weights, the weights are finite and have names, and the fingerprint is theirs. That there
// is a weight of the right shape for each that the settings ask for, running the model checks. For a model of one's own
// layers it returns an error that says to call [LoadOwn].
func LoadModel(path string) (m *Model, err error) { return load(path, nil) }

// LoadOwn reads a model of one's own layers as [LoadModel] does others. The file has weights and no layers: own is the
// model that they were trained for.
func LoadOwn(path string, own nmgnn.Model) (*Model, error) { return load(path, &own) }

func load(path string, own *nmgnn.Model) (m *Model, err error) {
	file, err := safetensors.Open(path, modelKind)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the weights are copies
	err = safetensors.Guard(path, func() error {
		m, err = readModel(file, path, own)
		return err
	})
	return m, err
}

func readModel(file *safetensors.File, path string, own *nmgnn.Model) (*Model, error) {
	if err := checkOwn(file, path, own); err != nil {
		return nil, err
	}
	m := &Model{Own: own}
	for key, into := range m.described() {
		if _, err := file.Metadata(key); err != nil && key == namesKey {
			continue // older files have none
		}
		if err := decodeMetadata(file, path, key, into); err != nil {
			return nil, err
		}
	}
	var err error
	if m.Data, err = file.Metadata(dataKey); err != nil {
		return nil, err
	}
	for _, name := range file.Names() {
		if strings.HasPrefix(name, withinModel) { // its cache
			continue
		}
		values, shape, err := safetensors.Get[float32](file, name)
		if err != nil {
			return nil, err
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("%s: tensor %.60q of shape %v is empty: expected weights", path, name, shape)
		}
		m.Weights = append(m.Weights, infer.Weight{Path: weightPath(name), Dimensions: shape, Values: slices.Clone(values)})
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Who changes weights or settings removes it, since caches of the old ones do not fit.
	if said, err := file.Metadata(fingerprintKey); err == nil && said != m.Fingerprint() {
		return nil, fmt.Errorf("%s: the metadata has the fingerprint %.20q of another model, this one's is %s: remove it if "+
			"weights or settings were changed on purpose",
			path, said, m.Fingerprint())
	}
	return m, nil
}

// checkOwn returns an error unless one's own layers are given where the file needs them, and as many.
func checkOwn(file *safetensors.File, path string, own *nmgnn.Model) error {
	layers, err := file.Metadata(ownKey)
	switch is := err == nil; {
	case own == nil && is:
		return fmt.Errorf("%s: a model of layers that are not in the file, which has their weights alone: give the "+
			"layers to LoadOwn, in Go", path)
	case own != nil && !is:
		return fmt.Errorf("%s: a model that its settings describe, not one of one's own layers: read it with LoadModel", path)
	case is && layers != strconv.Itoa(len(own.Layers)):
		return fmt.Errorf("%s: weights of %.20s layers of somebody's own, for %d: give LoadOwn the model that was trained",
			path, layers, len(own.Layers))
	}
	return nil
}

// decodeMetadata reads a text of the metadata as JSON.
func decodeMetadata(file *safetensors.File, path, key string, into any) error {
	text, err := file.Metadata(key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%s: %q of the metadata is %.40q, which cannot be read (%.120w): train the model again", path, key,
			text, err)
	}
	return nil
}

// check returns an error unless the model can be built, has weights and predicts by one run.
func (m *Model) check() error {
	switch {
	case m == nil:
		return errors.New("the model is nil: read one with LoadModel")
	case m.Own == nil:
		if err := m.Settings.Check(); err != nil {
			return fmt.Errorf("the settings are invalid: %w", err)
		}
	case m.Settings.Model != "":
		return fmt.Errorf("a model of one's own layers whose settings name the model %.20q: expected none", m.Settings.Model)
	default:
		if err := m.Own.Check(); err != nil {
			return err
		}
	}
	if err := m.Settings.CheckOneRun(); err != nil {
		return err
	}
	switch {
	case m.FeatureNames != nil && len(m.FeatureNames) != m.Features:
		return fmt.Errorf("%d names of features: expected %d", len(m.FeatureNames), m.Features)
	case m.Features < 1 || len(m.Classes) < 1:
		return fmt.Errorf("%d features and %d classes: expected at least one of each", m.Features, len(m.Classes))
	case len(m.Weights) == 0:
		return errors.New("a model without weights: take one that was trained, and of trials that KeepBest ran, the best")
	}
	return nil
}

// String returns the model in a line: "GIN(2 layers; 1433 features, 7 classes; trained on cora, seed 1)".
func (m *Model) String() string {
	return fmt.Sprintf("%s(%d layers; %d features, %d classes; trained on %s, seed %d)", hyper.Title(m.Settings.Model),
		m.Settings.Layers, m.Features, len(m.Classes), m.Data, m.Seed)
}
