package record

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
)

// otherValues differ from all presets.
func otherValues() map[string]string {
	return map[string]string{
		"arrivals": "train-edges", "split": "own", "resplit": "true", "validation": "5", "keep": "0.25", "over": "train",
		"rescale": "true", "regulariser": "dropedge:0.25",
		"layers": "3", "hidden": "24", "mlp": "2", "epsilon": "0.25", "learn-epsilon": "true", "heads": "4",
		"dropout": "0.25", "attention-dropout": "0.25",
		"lr": "0.25", "decay": "0.25", "normalize": "false", "epochs": "7", "patience": "7", "stop": "f1",
		"norm": "both", "readout": "all", "residual": "true", "self": "kept", "dropout-on": "scores",
	}
}

func TestAxisValuesAreReadBackAndShown(t *testing.T) {
	values := otherValues()
	require.Len(t, values, len(Axes()))
	names, flags := map[string]bool{}, map[string]bool{}
	for _, axis := range Axes() {
		require.False(t, names[axis.Name] || flags[axis.Flag], "%s twice", axis.Name)
		names[axis.Name], flags[axis.Flag] = true, true
		require.NotEmpty(t, axis.Help, axis.Name)
		value, ok := values[axis.Name]
		require.True(t, ok, "no value for the axis %s", axis.Name)
		for _, model := range hyper.Models() {
			usual := NewCell("cora", model, datasets.Inductive, 10)
			c := usual
			require.NoError(t, axis.Set(&c, value))
			require.NotEqual(t, axis.Get(usual), value, "the %s of %s is the preset's", axis.Name, model)
			require.Equal(t, value, axis.Get(c), axis.Name)
			require.Contains(t, c.Key()+"/", "/"+axis.Name+"="+value+"/")
			shown := "--" + axis.Flag + " " + value
			switch {
			case axis.Switch != "":
				require.Equal(t, axis.Switch, value, "%s: true is what no preset has", axis.Name)
				shown = "--set " + axis.Flag + "=true"
			case axis.Rare:
				shown = "--set " + axis.Flag + "=" + value
			}
			require.Contains(t, c.Command(3), " "+shown+" ")
			require.NotEqual(t, usual.Label(usual, 1), c.Label(usual, 1), axis.Name)
		}
	}
}

func TestAxesRefuseWhatIsNoValueAndSayWhatWasExpected(t *testing.T) {
	for _, axis := range Axes() {
		if axis.Name == "over" || axis.Name == "stop" {
			continue // rejected by hyper.Parameters.Check
		}
		c := NewCell("cora", "gin", datasets.Inductive, 10)
		before := c.Key()
		err := axis.Set(&c, "perhaps")
		require.ErrorContains(t, err, "expected", axis.Name)
		require.ErrorContains(t, err, `"perhaps"`, axis.Name)
		require.NotContains(t, err.Error(), "strconv", axis.Name)
		require.Equal(t, before, c.Key(), axis.Name)
	}
}

// fieldsOf returns a cell's parameters as JSON, by name.
func fieldsOf(t *testing.T, c Cell) map[string]any {
	text, err := json.Marshal(c.Parameters)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return fields
}

func TestEveryParameterThatIsRecordedHasAnAxis(t *testing.T) {
	moved := map[string]bool{"preset": true, "model": true} // axes start from these two
	for _, axis := range Axes() {
		usual := NewCell("cora", "gin", datasets.Inductive, 10)
		c := usual
		require.NoError(t, axis.Set(&c, otherValues()[axis.Name]))
		before, after := fieldsOf(t, usual), fieldsOf(t, c)
		for name, value := range after {
			if before[name] != value {
				moved[name] = true
			}
		}
	}
	want := map[string]bool{}
	parameters := reflect.TypeFor[hyper.Parameters]()
	for i := range parameters.NumField() {
		name, _, _ := strings.Cut(parameters.Field(i).Tag.Get("json"), ",")
		require.NotEmpty(t, name, "%s is not recorded", parameters.Field(i).Name)
		want[name] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(moved)))
}

func TestChoicesOfAnUnknownModelAreNone(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	c.Parameters.Model = "gim"
	require.Empty(t, c.Choices(), "there is no preset to differ from")
}
