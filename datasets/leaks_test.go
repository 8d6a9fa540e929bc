package datasets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFeatureThatTellsTheClassIsNamed(t *testing.T) {
	var nodes strings.Builder
	nodes.WriteString("id,label,digit,code,noisy,is_b,ramp,constant\n")
	for v := range 120 {
		class, wrong := v*7%3, 0
		if v == 5 {
			wrong = 1
		}
		isB := 0
		if class == 1 {
			isB = 1
		}
		fmt.Fprintf(&nodes, "n%d,%c,%d,%g,%d,%d,%g,1\n", v, 'a'+class, v%10, float64(class)+float64(v)/1000, class+wrong, isB,
			float64(v)/120)
	}
	g, err := csvFrom(t, nodes.String(), "source,target\nn0,n1\n")
	require.NoError(t, err)
	assert.Equal(t, []string{`feature "code"`, `feature "noisy"`, `feature "is_b" (which nodes are of class "b")`}, g.Leaks())
	assert.Equal(t, []string{`a leak? Alone, and nearly always, the class is told by feature "code", feature "noisy", ` +
		`feature "is_b" (which nodes are of class "b"): leave out what was made from the class`}, g.Remarks())
	cora, err := Open(t.Context(), "cora", OpenOptions{})
	require.NoError(t, err)
	assert.Empty(t, cora.Leaks())
}

func TestWhatMeansSomethingIsNoFeature(t *testing.T) {
	g, err := csvFrom(t, "id,label,x,LABEL,id,train_mask,valid_mask,test_mask,val_mask,class,Unnamed: 0,weight,split,y\n"+
		"a,0,1,0,7,1,0,0,0,0,0,1,0,0\nb,1,2,1,8,0,1,0,0,1,1,1,1,1\nc,1,3,1,9,0,0,1,1,1,2,1,2,1\n", "source,target\na,b\n")
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, g.FeatureNames)
	require.NotNil(t, g.OwnSplit)
	assert.Equal(t, []int32{1}, g.OwnSplit.Validation)
	assert.Equal(t, []string{`column "LABEL": left out: the class is "label", and a second one would tell it`,
		`column "id": left out: by its name it is an id and no feature`,
		`column "val_mask": left out: by its name it is a mask and no feature`,
		`column "class": left out: the class is "label", and a second one would tell it`,
		`column "Unnamed: 0": left out: by its name it is a row number and no feature`,
		`column "weight": left out: by its name it is a weight and no feature`,
		`column "split": left out: by its name it is a split and no feature`,
		`column "y": left out: the class is "label", and a second one would tell it`}, g.Notes)
	for file, content := range map[string]string{
		"g.json": `{"nodes":[{"id":"a","club":1,"label":0,"train_mask_2":1,"weight":2,"x":1}],"links":[]}`,
		"g.graphml": `<graphml><key id="club" for="node" attr.type="int"/><key id="label" for="node" attr.type="int"/>` +
			`<key id="x" for="node" attr.type="int"/><graph edgedefault="directed"><node id="a"><data key="club">1</data>` +
			`<data key="label">0</data><data key="x">1</data></node></graph></graphml>`,
	} {
		g := readText(t, file, strings.ReplaceAll(content, "club", "class"))
		assert.Equal(t, []string{"x"}, g.FeatureNames, file)
	}
}
