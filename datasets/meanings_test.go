package datasets

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/graphfile"
)

// inFormats reads nodes a, b and c, with a class and a number in column name, in each text format.
func inFormats(t *testing.T, name string, classes, values [3]string) map[string]*Graph {
	var csv, json, graphml strings.Builder
	fmt.Fprintf(&csv, "id,label,%s,x\n", name)
	fmt.Fprintf(&graphml, `<graphml><key id="label" for="node" attr.type="string"/><key id="v" for="node" attr.name="%s" `+
		`attr.type="double"/><key id="x" for="node" attr.type="int"/><graph edgedefault="undirected">`, name)
	for i, class := range classes {
		value := map[string]string{"True": "1", "False": "0"}[values[i]]
		if value == "" {
			value = values[i]
		}
		fmt.Fprintf(&csv, "%c,%s,%s,1\n", 'a'+i, class, values[i])
		fmt.Fprintf(&json, `,{"id":"%c","label":%q,%q:%s,"x":1}`, 'a'+i, class, name, strings.ToLower(values[i]))
		fmt.Fprintf(&graphml, `<node id="%c"><data key="label">%s</data><data key="v">%s</data><data key="x">1</data></node>`,
			'a'+i, class, value)
	}
	g, err := csvFrom(t, csv.String(), "source,target\na,b\n")
	require.NoError(t, err)
	return map[string]*Graph{"CSV": g,
		"JSON":    readText(t, "g.json", `{"nodes":[`+json.String()[1:]+`],"links":[]}`),
		"GraphML": readText(t, "g.graphml", graphml.String()+"</graph></graphml>")}
}

func TestAMeaningIsOneInEveryFormat(t *testing.T) {
	for _, c := range []struct {
		name            string
		classes, values [3]string
		want, features  []string
		labels          []int32
	}{
		{"v", [3]string{"NaN", "null", "k"}, [3]string{"1", "2", "3"}, []string{"k"}, []string{"v", "x"}, []int32{-1, -1, 0}},
		{"v", [3]string{"", "a", "b"}, [3]string{"1", "2", "3"}, []string{"a", "b"}, []string{"v", "x"}, []int32{-1, 0, 1}},
		{"v", [3]string{"-1", "0", "1"}, [3]string{"1", "2", "3"}, []string{"0", "1"}, []string{"v", "x"}, []int32{-1, 0, 1}},
		{"v", [3]string{"-1", "1", "-1"}, [3]string{"1", "2", "3"}, []string{"1"}, []string{"v", "x"}, []int32{-1, 0, -1}},
		{"v", [3]string{"-2", "-1", "1"}, [3]string{"1", "2", "3"}, []string{"-2", "-1", "1"}, []string{"v", "x"},
			[]int32{0, 1, 2}},
		{"v", [3]string{"-100", "0", "1"}, [3]string{"1", "2", "3"}, []string{"0", "1"}, []string{"v", "x"},
			[]int32{-1, 0, 1}},
		{"v", [3]string{"9007199254740993", "18446744073709551615", "1"}, [3]string{"True", "False", "True"},
			[]string{"1", "9007199254740993", "18446744073709551615"}, []string{"v", "x"}, []int32{1, 2, 0}},
		{"y", [3]string{"a", "b", "a"}, [3]string{"0", "1", "0"}, []string{"a", "b"}, []string{"x"}, []int32{0, 1, 0}},
		{"valid_mask_2", [3]string{"a", "b", "a"}, [3]string{"0", "1", "0"}, []string{"a", "b"}, []string{"x"},
			[]int32{0, 1, 0}},
		{"weight", [3]string{"a", "b", "a"}, [3]string{"0", "1", "0"}, []string{"a", "b"}, []string{"x"}, []int32{0, 1, 0}},
	} {
		for format, g := range inFormats(t, c.name, c.classes, c.values) {
			assert.Equal(t, c.want, g.Classes, "%s %v", format, c.classes)
			assert.Equal(t, c.labels, g.Labels, "%s %v", format, c.classes)
			assert.Equal(t, c.features, g.FeatureNames, "%s %s", format, c.name)
		}
	}
	for _, labels := range [][]int64{{-1, 0, 1}, {-100, 0, 1}} {
		g, err := readNPZ(openNPZBytes(t, tiny().With(members{"labels": npy("<i8", []int{3}, labels)}).Zip(zip.Store)),
			"a.npz", graphfile.Choice{})
		require.NoError(t, err)
		assert.Equal(t, []int32{-1, 0, 1}, g.Labels)
	}
	g := readText(t, "karate.graphml", `<graphml><key id="club" for="node" attr.type="string"/><graph `+
		`edgedefault="undirected"><node id="1"><data key="club">Hi</data></node><node id="2"><data key="club">Officer</data>`+
		`</node><node id="3"><data key="club">Hi</data></node></graph></graphml>`)
	assert.Equal(t, []string{`GraphML key "club" of type string: left out. It has 2 different texts: PATH:label=club makes ` +
		`it the class`}, g.Notes)
}
