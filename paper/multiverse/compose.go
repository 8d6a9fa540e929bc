package multiverse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
)

// Matters reports whether the axis matters in a setting.
func (a Axis) Matters(setting datasets.Setting) bool { return a.Setting == "" || a.Setting == setting }

// Compose returns the reading that has these options, in pairs: an axis's name, an option's name. Axes that are not
// named have their first option. Capitals do not matter. It returns an error, which lists what there is, for an axis or
// option that does not exist, an axis that does not matter in the setting, and one that is named twice or without an
// option.
func Compose(axes []Axis, setting datasets.Setting, choices ...string) (Reading, error) {
	r := make(Reading, len(axes))
	named := make([]bool, len(axes))
	for len(choices) > 0 {
		name := choices[0]
		i := slices.IndexFunc(axes, func(a Axis) bool { return strings.EqualFold(a.Name, name) })
		if i < 0 {
			return nil, fmt.Errorf("no axis %q: expected one of %q", name, axisNames(axes, setting))
		}
		axis := axes[i]
		switch {
		case !axis.Matters(setting):
			return nil, fmt.Errorf("axis %q does not matter in the %s setting: leave it out, or choose among %q", axis.Name,
				setting, axisNames(axes, setting))
		case named[i]:
			return nil, fmt.Errorf("axis %q is named twice: expected it once", axis.Name)
		case len(choices) == 1:
			return nil, fmt.Errorf("axis %q has no option after it: expected one of %q", axis.Name, axis.optionNames())
		}
		option := slices.IndexFunc(axis.Options, func(o Option) bool { return strings.EqualFold(o.Name, choices[1]) })
		if option < 0 {
			return nil, fmt.Errorf("axis %q has no option %q: expected one of %q", axis.Name, choices[1], axis.optionNames())
		}
		r[i], named[i] = option, true
		choices = choices[2:]
	}
	return r, nil
}

// axisNames lists the axes that matter in a setting.
func axisNames(axes []Axis, setting datasets.Setting) []string {
	var names []string
	for _, axis := range axes {
		if axis.Matters(setting) {
			names = append(names, axis.Name)
		}
	}
	return names
}

func (a Axis) optionNames() []string {
	names := make([]string, len(a.Options))
	for i, o := range a.Options {
		names[i] = o.Name
	}
	return names
}

// Find returns a reading's effect, and its rank among all by pooled effect, from 1 for the least. Readings that tie
// share the least rank. found is false if there is none.
func (e *Effects) Find(r Reading) (effect Effect, rank int, ok bool) {
	i := slices.IndexFunc(e.Effects, func(other Effect) bool { return slices.Equal(other.Reading, r) })
	if i < 0 {
		return Effect{}, 0, false
	}
	effect, rank = e.Effects[i], 1
	for _, other := range e.Effects {
		if cmp.Less(other.Pooled.MeanDifference, effect.Pooled.MeanDifference) {
			rank++
		}
	}
	return effect, rank, true
}
