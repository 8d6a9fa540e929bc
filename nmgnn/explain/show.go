package explain

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nodemask/aggtree/draw"
	"nodemask/datasets"
	"nodemask/internal/svg"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/plots"
)

// View is an explanation with the names of nodes and classes.
type View struct {
	*Explanation
	Graph *datasets.Graph
	Model *cached.Model // nil if unknown: classes then have the graph's names
}

const listed = 10

func (v View) node(base int32) string {
	if names := v.names(); names != nil {
		return names[base]
	}
	return strconv.Itoa(int(base))
}

// names returns the graph's node ids. If all ids are numeric, it returns nil, since numeric ids would look like node
// numbers.
func (v View) names() []string {
	for _, id := range v.Graph.NodeIDs {
		if _, err := strconv.Atoi(id); err != nil {
			return v.Graph.NodeIDs
		}
	}
	return nil
}

func (v View) path(i int32) string {
	var names []string
	for _, base := range v.Tree.Walk(i) {
		names = append(names, v.node(base))
	}
	return strings.Join(names, " ← ")
}

func (v View) model() *cached.Model {
	if v.Model == nil {
		return &cached.Model{Classes: v.Graph.Classes}
	}
	return v.Model
}

func (v View) class(class int) string {
	if names := v.model().Classes; class < len(names) {
		return names[class]
	}
	return fmt.Sprintf("class %d", class)
}

func (v View) feature(column int) string {
	for _, names := range [][]string{v.Graph.FeatureNames, v.model().FeatureNames} {
		if column < len(names) && names[column] != "" {
			return names[column]
		}
	}
	return fmt.Sprintf("feature %d", column)
}

func (v View) probability() float64 {
	sum, own := 0.0, float64(v.Logits[v.Class])
	for _, x := range v.Logits {
		sum += math.Exp(float64(x) - own)
	}
	return 1 / sum
}

func (v View) rootName() string {
	root := v.Tree.Base[0]
	name, number := v.node(root), strconv.Itoa(int(root))
	if v.Graph.NodeIDs == nil || v.Graph.NodeIDs[root] == number {
		return name
	}
	if name == number {
		return fmt.Sprintf("%s (id %s)", number, v.Graph.NodeIDs[root])
	}
	return fmt.Sprintf("%s (number %s)", name, number)
}

// Sentence returns the prediction and its logit as text that is safe for terminals.
func (v View) Sentence() string {
	title := "The model"
	if v.Model != nil && v.Model.Own == nil {
		title = hyper.Title(v.Model.Settings.Model)
	}
	root := v.Tree.Base[0]
	s := fmt.Sprintf("%s says that node %s is %s, with probability %.2f", title, v.rootName(),
		v.class(v.Predicted), v.probability())
	if v.Class != v.Predicted {
		s = fmt.Sprintf("%s gives node %s the class %s with probability %.2f (it predicts %s)", title, v.rootName(),
			v.class(v.Class), v.probability(), v.class(v.Predicted))
	}
	if v.Graph.Labels != nil && v.Graph.Labels[root] != datasets.Unlabelled {
		s += fmt.Sprintf("; it is %s", v.Graph.Classes[v.Graph.Labels[root]])
	}
	shares := v.Logit() - v.Alone
	s += fmt.Sprintf(". Its logit is %.3f: %.3f from the node alone, and %s from the %d branches of its tree, ",
		v.Logit(), v.Alone, number(shares), v.Tree.NumNodes()-1)
	if v.Exact {
		return svg.Plain(s + fmt.Sprintf("exactly, from all %d masks that differ.", v.Masks))
	}
	return svg.Plain(s + fmt.Sprintf("each estimated from %d random orders.", v.Orders))
}

func number(x float64) string { return strings.Replace(fmt.Sprintf("%+.3f", x), "-", "−", 1) }

// Branches returns a table of the ten branches with the largest absolute shares (Shapley values) of the logit.
func (v View) Branches() plots.Table {
	t := plots.Table{ID: "branches", Title: "The branches that decide",
		Header: []string{"path", "share", "masked", "only"},
		Caption: fmt.Sprintf("What each adds to the logit of %s. The share is the Shapley value; masked: what "+
			"the logit loses when this branch alone is masked; only: what it gains when this branch alone is heard.",
			v.class(v.Class))}
	for _, i := range v.Top(listed) {
		b := v.Explanation.Branches[i]
		share := number(b.Share)
		if !v.Exact {
			share += " ± " + strings.Replace(fmt.Sprintf("%.3f", b.Error), "0.000", "<0.001", 1)
		}
		t.Rows = append(t.Rows, []plots.Field{{Text: v.path(i)}, {Text: share}, {Text: number(b.Without)},
			{Text: number(b.Only)}})
	}
	return t
}

// Columns returns a table of the ten features of the root that change the explained logit most when set to 0.
func (v View) Columns() plots.Table {
	t := plots.Table{ID: "features", Title: "The node's features that count",
		Header: []string{"feature", "value", "change"},
		Caption: fmt.Sprintf("What the logit of %s loses when the feature is 0, of %d that are not.",
			v.class(v.Class), len(v.Explanation.Features))}
	for _, f := range v.Explanation.Features[:min(listed, len(v.Explanation.Features))] {
		t.Rows = append(t.Rows, []plots.Field{{Text: v.feature(f.Column)}, {Text: fmt.Sprintf("%.4g", f.Value)},
			{Text: number(f.Change)}})
	}
	return t
}

func (v View) tables() []plots.Table {
	return slices.DeleteFunc([]plots.Table{v.Branches(), v.Columns()},
		func(t plots.Table) bool { return len(t.Rows) == 0 })
}

// Text returns the sentence and both tables for a terminal.
func (v View) Text() (string, error) {
	text := v.Sentence() + "\n"
	for _, t := range v.tables() {
		table, err := t.Render(plots.FormatText)
		if err != nil {
			return "", err
		}
		text += "\n" + table
	}
	return text, nil
}

// WriteSVG draws the aggregation tree. An edge's colour and width show the sign and size of what the branch below the
// edge contributes to the explained logit.
func (v View) WriteSVG(w io.Writer) error {
	o := draw.Options{Names: v.names(), Labels: v.Graph.Labels, Classes: v.Graph.Classes,
		ID: fmt.Sprintf("explain-%d", v.Tree.Base[0]), Flow: make([]float64, len(v.Explanation.Branches))}
	for i, b := range v.Explanation.Branches {
		o.Flow[i] = b.Share
	}
	class := v.class(v.Class)
	o.FlowNames = [2]string{"for " + class, "against " + class}
	return draw.WriteSVG(w, v.Tree, o)
}

//go:embed page.html.tmpl
var pageText string

// WriteHTML writes a self-contained page with drawing and tables.
func (v View) WriteHTML(w io.Writer) error {
	page, err := template.New("explain").Parse(pageText)
	if err != nil {
		return err
	}
	var drawing strings.Builder
	if err := v.WriteSVG(&drawing); err != nil {
		return err
	}
	var tables []template.HTML
	for _, t := range v.tables() {
		table, err := t.Render(plots.FormatHTML)
		if err != nil {
			return err
		}
		tables = append(tables, template.HTML(table)) //nolint:gosec // package plots escapes its input
	}
	return page.Execute(w, map[string]any{"Sentence": v.Sentence(), "Tables": tables,
		"Title":   svg.Plain(fmt.Sprintf("Why node %s is %s", v.node(v.Tree.Base[0]), v.class(v.Class))),
		"Drawing": template.HTML(drawing.String()), //nolint:gosec // likewise, the drawing
		"Font":    template.CSS(svg.FontFamily)})   //nolint:gosec // a constant
}

type branchJSON struct {
	Path []int32 `json:"path"`
	Branch
}

type featureJSON struct {
	Feature
	Name string `json:"name"`
}

// WriteJSON writes the view as one line of JSON; see docs/FORMATS.md. The list "branches" has all tree nodes below the
// root, level by level.
func (v View) WriteJSON(w io.Writer) error {
	root := v.Tree.Base[0]
	j := map[string]any{"data": v.Graph.Name, "model": v.model().Settings.Model, "fingerprint": "", "node": root,
		"class": v.class(v.Class), "predicted": v.class(v.Predicted), "logit": v.Logit(), "alone": v.Alone,
		"probability": v.probability(), "logits": v.Logits, "exact": v.Exact, "masks": v.Masks, "orders": v.Orders}
	if v.Model != nil {
		j["fingerprint"] = v.Model.Fingerprint()
	}
	if v.Graph.NodeIDs != nil {
		j["id"] = v.Graph.NodeIDs[root]
	}
	if v.Graph.Labels != nil && v.Graph.Labels[root] != datasets.Unlabelled {
		j["label"] = v.Graph.Classes[v.Graph.Labels[root]]
	}
	branches, features := []branchJSON{}, []featureJSON{}
	for i := int32(1); int(i) < v.Tree.NumNodes(); i++ {
		branches = append(branches, branchJSON{v.Tree.Walk(i), v.Explanation.Branches[i]})
	}
	for _, f := range v.Explanation.Features {
		features = append(features, featureJSON{f, v.feature(f.Column)})
	}
	j["branches"], j["features"] = branches, features
	return json.NewEncoder(w).Encode(j)
}
