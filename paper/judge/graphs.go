package judge

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/stats"
)

// FirstGraphSplit is the seed of the first split of part [Graphs].
const FirstGraphSplit = 700

// GraphFile is a graph of PROTOCOL-3.md. Largest is the number of nodes in the largest class.
type GraphFile struct {
	Data, File, SHA256      string
	Largest, Nodes, Classes int
}

// ConstantF1 returns the macro F1, in percent, of predicting the largest class for every node. By PROTOCOL-3.md, an
// unmasked model with no higher mean macro F1 does not learn.
func (f GraphFile) ConstantF1() float64 {
	return 200 * float64(f.Largest) / float64((f.Largest+f.Nodes)*f.Classes)
}

// GraphFiles returns the graphs of PROTOCOL-3.md.
func GraphFiles() []GraphFile {
	return []GraphFile{
		{"tolokers", "tolokers.npz",
			"dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667", 9192, 11_758, 2},
		{"squirrel-filtered", "squirrel_filtered.npz",
			"f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7", 756, 2223, 5},
		{"actor", "actor.npz",
			"c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816", 1965, 7600, 5},
		{"minesweeper", "minesweeper.npz",
			"e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3", 8000, 10_000, 2},
		{"blogcatalog", "blogcatalog.npz",
			"858b9e1c2cc34e7de723ebd56b1d19590869eafa800cde8663ad8dc8e29ef1f6", 921, 5196, 6},
		{"flickr_small", "flickr_small.npz",
			"2e085c1e93f9c049a4004687f1017f66af131b8352b8431c12a395313e9fdf69", 888, 7575, 9},
		{"amazon_photo", "amazon_photo.npz",
			"7090e26cb8502b246627e0672d62f0d5321c44e0a8a12b4f269b4746fdc2c068", 1941, 7650, 8},
		{"amazon_cs", "amazon_cs.npz",
			"c8b779d7a6429b49c03f00cc00a4ac038ec18c228cd7e98be3e1e8bbab28cb2c", 5158, 13_752, 10},
		{"coauthor_cs", "coauthor_cs.npz",
			"7bbda0ec297bb44efc712cc59f9e9a6c9ac959e5c4848e311bc7e011b0be5753", 4136, 18_333, 15},
	}
}

// GraphFileOf returns the entry of [GraphFiles] with this data set name.
func GraphFileOf(data string) (GraphFile, bool) {
	files := GraphFiles()
	i := slices.IndexFunc(files, func(f GraphFile) bool { return f.Data == data })
	if i < 0 {
		return GraphFile{}, false
	}
	return files[i], true
}

// Path finds the file in dir, in $NODEMASK_DATA, or where [datasets.Fetch] put it. A wrong hash is an error.
func (f GraphFile) Path(dir string) (string, error) {
	folders := []string{dir, os.Getenv("NODEMASK_DATA")}
	if at, err := datasets.Locate(f.Data, datasets.OpenOptions{Dir: dir}); err == nil {
		folders = append(folders, at.Dir)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, f.File)
		bytes, err := os.ReadFile(path)
		if folder == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(bytes)); sum != f.SHA256 {
			return "", fmt.Errorf("%s: its SHA-256 is %s: expected %s, the file of paper/PROTOCOL-3.md", path, sum, f.SHA256)
		}
		return path, nil
	}
	return "", fmt.Errorf("%s: %s is not there: name the folder that has it by --data-dir; paper/PROTOCOL-3.md says where "+
		"it comes from", f.Data, f.File)
}

func graphSizes(model string) []int {
	if model == "gin" {
		return []int{10, 50}
	}
	return []int{10}
}

func graphReadings(axes []Axis, model string, setting datasets.Setting) (sizes []int, readings []Reading) {
	choices := []Choice{{Fair: true, StopF1: true}}
	if model == "gin" {
		choices = []Choice{{StopF1: true}, {StopF1: true, Rescale: true}}
	}
	for _, c := range choices {
		readings = append(readings, c.reading(axes, setting))
	}
	return graphSizes(model), readings
}

// GraphAnswer answers hypothesis H1 of PROTOCOL-3.md (masking changes macro F1) for a graph and setting.
type GraphAnswer struct {
	Answer
	Rescaled bool
}

// Inconclusive is the verdict if fewer trials ran than the protocol requires.
const Inconclusive Verdict = "inconclusive"

// GraphAnswers says for each graph and setting of PROTOCOL-3.md whether node masking helps the model. For GIN, answers
// with rescaling follow those without. P-values are Holm-corrected over all answers returned. The verdict is
// [Inconclusive] while splits or train set sizes are missing.
func GraphAnswers(r *record.Results, model string) (all []GraphAnswer, err error) {
	var p []float64
	sizes, asked := graphSizes(model), 1
	if model == "gin" {
		asked = 2
	}
	for reading := range asked {
		for _, data := range Graphs.Data() {
			for _, setting := range datasets.Settings() {
				q, err := QuestionOf(Graphs, data, model, setting)
				if err != nil {
					return nil, err
				}
				a, err := ask(r, q, q.Readings[reading])
				if err == nil && !a.Complete() {
					// If some splits are complete at train set size 10 % but not at 50 %, use 10 % alone.
					q.Sizes = sizes[:1]
					if first, errFirst := ask(r, q, q.Readings[reading]); errFirst != nil || first.Splits > a.Splits {
						a, err = first, errFirst
					}
				}
				if err != nil {
					return nil, err
				}
				complete := a.Complete() && len(a.Sizes) == len(sizes)
				if !complete {
					a.P = 1
				}
				p = append(p, a.P)
				all = append(all, GraphAnswer{a, reading > 0})
			}
		}
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	for i := range all {
		a := &all[i]
		switch a.P = corrected[i]; {
		case a.Effect == nil:
			a.Verdict = Unmeasured
		case a.Complete() && len(a.Sizes) == len(sizes):
			a.Verdict = VerdictOf(a.Effect.Pooled, a.P)
		default:
			a.Verdict = Inconclusive
		}
	}
	return all, nil
}

// OneSign says whether masking's effect has one sign on all graphs in answers (hypothesis H2), and counts graphs that
// masking helps and hurts.
func OneSign(answers []GraphAnswer) (word string, help, hurt int) {
	unsettled := 0
	for _, a := range answers {
		switch a.Verdict {
		case Helps:
			help++
		case Hurts:
			hurt++
		case Inconclusive, Unmeasured:
			unsettled++
		}
	}
	switch n := len(answers); {
	case help > 0 && hurt > 0:
		return "both signs", help, hurt
	case n > 0 && (help == n || hurt == n):
		return "one sign", help, hurt
	case unsettled > 0:
		return string(Inconclusive), help, hurt
	}
	return "not settled", help, hurt
}
