package report

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	text "text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/paper/judge"
)

// contradictions return other numbers than the measured ones: of the other sign, with other distances, and the same
// everywhere.
var contradictions = []func(any) any{times(-1), times(100), times(-100), always(0), always(100), always(-100)}

func times(by float64) func(any) any {
	return func(x any) any {
		switch x := x.(type) {
		case effect:
			low, high := by*x.Low, by*x.High
			x.MeanDifference, x.Low, x.High, x.Plain = by*x.MeanDifference, min(low, high), max(low, high), 100-x.Plain
			x.Plains = slices.Repeat([]float64{x.Plain}, len(x.Plains))
			x.Verdict = map[judge.Verdict]judge.Verdict{judge.Helps: judge.Hurts, judge.Hurts: judge.Helps,
				judge.Under: judge.Unclear, judge.Unclear: judge.Under}[x.Verdict]
			return x
		case float64:
			return by * x
		case int:
			return judge.Splits - x
		case bool:
			return !x
		case []float64:
			x = slices.Clone(x)
			slices.Reverse(x)
			return x
		case best:
			return best{1 - x.P, 100 - x.F1}
		}
		return x
	}
}

func always(value float64) func(any) any {
	return func(x any) any {
		switch x := x.(type) {
		case effect:
			x.MeanDifference, x.Low, x.High, x.Plain, x.Verdict = value, value-1, value+1, value, judge.Unclear
			x.BySize = slices.Repeat([]float64{value}, len(x.BySize))
			x.Plains = x.BySize
			return x
		case float64:
			return value
		case int:
			return int(value)
		case bool:
			return !x
		case []float64:
			return slices.Repeat([]float64{value}, len(x))
		case best:
			return best{value, value}
		}
		return x
	}
}

// contradicted is a function of templates whose results are changed; they are computed once.
func contradicted(name string, f any, kept map[string][]reflect.Value, change func(any) any) any {
	v := reflect.ValueOf(f)
	return reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
		key := name
		for _, x := range in {
			key += fmt.Sprintf("|%v", x)
		}
		if kept[key] == nil {
			kept[key] = v.Call(in)
		}
		out := slices.Clone(kept[key])
		if effects, ok := out[0].Interface().([]effect); ok {
			changed := make([]effect, len(effects))
			for i, x := range effects {
				changed[i] = change(x).(effect)
			}
			out[0] = reflect.ValueOf(changed)
			return out
		}
		out[0] = reflect.ValueOf(change(out[0].Interface()))
		return out
	}).Interface()
}

// TestEachSentenceIsFalseOfOtherNumbers feeds the templates numbers that contradict them: each of their words fails
// with some.
func TestEachSentenceIsFalseOfOtherNumbers(t *testing.T) {
	e := committed(t)
	kept := map[string][]reflect.Value{}
	files, err := prose.ReadDir("prose")
	require.NoError(t, err)
	for _, file := range files {
		source, err := prose.ReadFile("prose/" + file.Name())
		require.NoError(t, err)
		fails := map[string]bool{}
		for _, change := range contradictions {
			funcs := e.words()
			for _, name := range strings.Fields("gain gains instead stated distance early single stopped tuned is " +
				"cost claimed mad f1 rank scaled sums departed deepest") {
				funcs[name] = contradicted(name, funcs[name], kept, change)
			}
			funcs["say"] = func(words string, claims ...bool) string {
				fails[words] = fails[words] || slices.Contains(claims, false)
				return words
			}
			parsed, err := text.New(file.Name()).Funcs(funcs).Parse(string(source))
			require.NoError(t, err)
			require.NoError(t, parsed.Execute(io.Discard, nil))
		}
		assert.NotEmpty(t, fails, file.Name())
		for words, fails := range fails {
			assert.True(t, fails, "%s: %q holds whatever the numbers are", file.Name(), words)
		}
	}
}
