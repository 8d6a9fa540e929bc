package cached

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/safetensors"
)

var modelKind = safetensors.Kind{Name: "model", Remedy: "get it again, or train the model again"}

// Keys of the metadata in a model file; see docs/FORMATS.md.
const (
	settingsKey    = "settings"
	classesKey     = "classes"
	featuresKey    = "features"
	namesKey       = "feature_names"
	dataKey        = "data"
	seedKey        = "seed"
	fingerprintKey = "fingerprint"
	ownKey         = "own_layers"
)

// Model is a trained model with all that predicting needs, as saved in a file.
type Model struct {
	Settings hyper.Parameters `json:"settings"`
	Classes  []string         `json:"classes"`  // names, by number
	Features int              `json:"features"` // width
	Data     string           `json:"data"`     // name of the training data
	Seed     uint64           `json:"seed"`
	// FeatureNames are the names of the features' columns, in order; nil if unknown. [Model.Fingerprint] ignores them.
	FeatureNames []string `json:"-"`
	// Weights are taken after the best epoch.
	Weights []infer.Weight `json:"-"`
	// Own is the custom model that Weights belong to; nil if Settings describe the model. Save does not write Own:
	// [LoadOwn] takes it as an argument.
	Own *nmgnn.Model `json:"-"`
}

// Fingerprint returns a hash of settings and weights, which ties a cache to its model.
func (m *Model) Fingerprint() string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(m)
	for _, w := range slices.SortedFunc(slices.Values(m.Weights), func(v, w infer.Weight) int {
		return cmp.Compare(v.Path, w.Path)
	}) {
		fmt.Fprintf(h, "%s %v\n", w.Path, w.Dimensions)
		_ = binary.Write(h, binary.LittleEndian, w.Values)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Network returns the model for inference, without masking or dropout. It is not for DropGNN, which averages several
// runs and which [Model.Check] refuses.
func (m *Model) Network() infer.Model {
	network := infer.Model{Weights: m.Weights, NormalizeFeatures: m.Settings.NormalizeFeatures}
	if m.Own != nil {
		network.Model = *m.Own
	} else {
		network.Model = nmgnn.Build(m.Settings, len(m.Classes))
	}
	return network
}

func (m *Model) layers() int {
	if m.Own != nil {
		return len(m.Own.Layers)
	}
	return m.Settings.Layers
}

const scope = "/" + gomlx.ModelScope + "/"

// tensorName maps /model/layer0/linear0/weights to layer0.linear0.weights.
func tensorName(path string) (string, error) {
	name := strings.ReplaceAll(strings.TrimPrefix(path, scope), "/", ".")
	if weightPath(name) != path {
		return "", fmt.Errorf("weights %q: expected a path that begins with %s and has no dots", path, scope)
	}
	return name, nil
}

func weightPath(name string) string { return scope + strings.ReplaceAll(name, ".", "/") }

// Save writes the model atomically to a safetensors file (docs/FORMATS.md). If [LoadModel] would refuse the model, Save
// returns an error and leaves an existing file as it was.
func (m *Model) Save(path string) error { return m.builder().WriteFile(path) }

// SaveWith writes the model and its cache into one file, for [LoadModel] and [LoadCache].
func (m *Model) SaveWith(path string, c *Cache) error {
	file := m.builder()
	if err := c.put(file); err != nil {
		file = safetensors.Failed(modelKind.Name, err)
	}
	return file.WriteFile(path)
}

func (m *Model) described() map[string]any {
	return map[string]any{settingsKey: &m.Settings, classesKey: &m.Classes, featuresKey: &m.Features, seedKey: &m.Seed,
		namesKey: &m.FeatureNames}
}

func (m *Model) builder() *safetensors.Builder {
	if err := m.Check(); err != nil {
		return safetensors.Failed(modelKind.Name, err)
	}
	names := datasets.Graph{Name: m.Data, Classes: m.Classes, FeatureNames: m.FeatureNames}
	if err := names.CheckText(false); err != nil {
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

// LoadModel returns a model saved by [Model.Save] or [Model.SaveWith]. It returns an error, with the file's name, for
// wrong checksums, a model that [Model.Check] refuses, invalid weights, and custom models (use [LoadOwn]). Whether all
// weights exist with the right shapes is checked only when the model runs.
func LoadModel(path string) (m *Model, err error) { return load(path, nil) }

// LoadOwn is [LoadModel] for a custom model. own must be the model that was trained: files do not describe layers.
func LoadOwn(path string, own nmgnn.Model) (*Model, error) { return load(path, &own) }

func load(path string, own *nmgnn.Model) (m *Model, err error) {
	file, err := safetensors.Open(path, modelKind)
	if err != nil {
		return nil, err
	}
	defer file.Close()
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
			continue // files of earlier versions lack feature names
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
		if strings.HasPrefix(name, withinModel) {
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
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

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

// Check returns an error for a nil model, for missing features, classes, class names or weights, and for settings that
// are invalid or need several forward passes (DropGNN).
func (m *Model) Check() error {
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

// String returns a line like "GIN(2 layers; 1433 features, 7 classes; trained on cora, seed 1)".
func (m *Model) String() string {
	return fmt.Sprintf("%s(%d layers; %d features, %d classes; trained on %s, seed %d)", hyper.Title(m.Settings.Model),
		m.Settings.Layers, m.Features, len(m.Classes), m.Data, m.Seed)
}

// Match reorders f's columns, whose names are given, to the model's order, and reports whether any column moved. If the
// model has no feature names, Match returns f itself.
func (m *Model) Match(names []string, f datasets.Features, file string) (_ datasets.Features, moved bool, err error) {
	if m.FeatureNames == nil || len(names) != f.Width || slices.Equal(names, m.FeatureNames) {
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

// Lacks returns an error if some of the model's features are missing in names, the feature names of a file.
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
