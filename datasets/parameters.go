package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parameter is one setting of a generator that may stand in a data set's name.
type parameter struct {
	name     string
	value    float64 // by default; a name may change it
	min, max float64
	whole    bool // an integer
}

// readParameters reads what follows the colon in a name such as "sbm:nodes=1000,seed=1" and returns all values by name.
func readParameters(name string, known []parameter) (map[string]float64, error) {
	values := map[string]float64{}
	var names []string
	for _, p := range known {
		values[p.name] = p.value
		names = append(names, p.name)
	}
	_, text, found := strings.Cut(name, ":")
	if !found || text == "" {
		return values, nil
	}
	seen := map[string]bool{}
	for setting := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(setting, "=")
		key = strings.TrimSpace(key)
		i := slices.IndexFunc(known, func(p parameter) bool { return p.name == key })
		if i < 0 {
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("no parameter %.40q: expected name=value with one of %s", setting, strings.Join(names, ", "))}
		}
		if seen[key] {
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("%s is there twice", key)}
		}
		seen[key] = true
		p := known[i]
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(v >= p.min && v <= p.max) || p.whole && v != math.Trunc(v) {
			kind := "number"
			if p.whole {
				kind = "whole number"
			}
			return nil, &NameError{Name: name, Problem: fmt.Sprintf("%.40q: expected a %s from %v to %v", setting, kind, p.min, p.max)}
		}
		values[key] = v
	}
	return values, nil
}

// maxSeed is where float64 stops holding every whole number.
const maxSeed = 1 << 53

// sbmParameters are those of the stochastic block model.
func sbmParameters() []parameter {
	return []parameter{
		{name: "nodes", value: 1000, min: 2, max: 50_000_000, whole: true},
		{name: "classes", value: 5, min: 1, max: 10_000, whole: true},
		{name: "degree", value: 8, min: 0.01, max: 10_000},
		{name: "seed", value: 1, min: 0, max: maxSeed, whole: true},
	}
}

// redditLikeParameters are those of the graph of Reddit's shape.
func redditLikeParameters() []parameter {
	return []parameter{
		{name: "scale", value: 0.1, min: minRedditScale, max: maxRedditScale},
		{name: "seed", value: 1, min: 0, max: maxSeed, whole: true},
	}
}
