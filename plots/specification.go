package plots

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

// Specification describes a specification curve: the effect of one thing in every reading of an experiment, sorted, and
// below it what each reading chooses (Simonsohn, Simmons and Nelson 2020, "Specification curve analysis").
type Specification struct {
	ID, Title, Caption string
	YLabel             string  // of the effects, with the unit
	Width              float64 // in CSS pixels; 0: 1100
	MarkName           string  // what marked readings are, for the legend; "": marked
	Axes               []SpecificationAxis
	Readings           []SpecificationReading // in any order
}

// SpecificationAxis describes something that every reading chooses.
type SpecificationAxis struct {
	Name    string   `json:"name"`
	Options []string `json:"options"`
}

// SpecificationReading holds the effect in one reading, with its interval.
type SpecificationReading struct {
	Effect  float64 `json:"effect"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Choices []int   `json:"choices"`          // for each axis an option, from 0
	Marked  bool    `json:"marked,omitempty"` // stands out
	Text    string  `json:"text,omitempty"`   // what to say of it beside its choices; may be empty
}

// bearing says on which side of no effect an interval lies.
type bearing int

const (
	neither bearing = iota // the interval includes 0
	above
	below
)

func bearingOf(low, high float64) bearing {
	switch {
	case low > 0:
		return above
	case high < 0:
		return below
	default:
		return neither
	}
}

func (r SpecificationReading) bearing() bearing { return bearingOf(r.Low, r.High) }

// Check returns the error of [Specification.SVG].
func (s Specification) Check() error { return named("specification curve", s.ID, s.check()) }

func (s Specification) check() error {
	if err := checkSide("width", s.Width, minSpecificationWidth); err != nil {
		return err
	}
	if len(s.Readings) == 0 {
		return errors.New("no readings: expected at least 1")
	}
	if len(s.Axes) == 0 {
		return errors.New("no axes: expected at least 1")
	}
	for _, a := range s.Axes {
		if len(a.Options) == 0 {
			return fmt.Errorf("axis %q has no options: expected at least 1", a.Name)
		}
	}
	for i, r := range s.Readings {
		if err := checkInterval(r.Effect, r.Low, r.High); err != nil {
			return fmt.Errorf("reading %d: %w", i+1, err)
		}
		if len(r.Choices) != len(s.Axes) {
			return fmt.Errorf("reading %d has %d choices: expected one for each of %d axes", i+1, len(r.Choices), len(s.Axes))
		}
		for k, option := range r.Choices {
			if option < 0 || option >= len(s.Axes[k].Options) {
				return fmt.Errorf("reading %d: option %d of axis %q: expected 0 to %d",
					i+1, option, s.Axes[k].Name, len(s.Axes[k].Options)-1)
			}
		}
	}
	return nil
}

// sorted returns the readings by ascending effect; those that tie, by what they choose.
func (s Specification) sorted() []SpecificationReading {
	readings := slices.Clone(s.Readings)
	slices.SortStableFunc(readings, func(a, b SpecificationReading) int {
		return cmp.Or(cmp.Compare(a.Effect, b.Effect), slices.Compare(a.Choices, b.Choices))
	})
	return readings
}

// Table returns the readings by ascending effect, each with its options, effect and interval.
func (s Specification) Table() Table {
	t := Table{ID: s.ID, Title: s.Title, Caption: s.Caption, TextColumns: len(s.Axes) + 1}
	for _, a := range s.Axes {
		t.Header = append(t.Header, a.Name)
	}
	t.Header = append(t.Header, "note", "effect", "low", "high")
	for _, r := range s.sorted() {
		var row []Field
		for k, option := range r.Choices {
			row = append(row, Field{Text: s.Axes[k].Options[option]})
		}
		note := r.Text
		if r.Marked {
			note = strings.TrimSuffix(s.markName()+": "+r.Text, ": ")
		}
		row = append(row, Field{Text: note}, Field{Text: fixed(r.Effect)}, Field{Text: fixed(r.Low)},
			Field{Text: fixed(r.High)})
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s Specification) markName() string {
	return cmp.Or(svg.Plain(s.MarkName), "marked")
}

// summary says how many of the readings there are, their median, and the share above 0.
func (s Specification) summary() string {
	var effects []float64
	positive := 0
	for _, r := range s.Readings {
		effects = append(effects, r.Effect)
		if r.Effect > 0 {
			positive++
		}
	}
	plural := "s"
	if len(effects) == 1 {
		plural = ""
	}
	share := 100 * float64(positive) / float64(len(effects))
	return fmt.Sprintf("%d reading%s: median %s, %.0f %% above 0", len(effects), plural, Signed(middleOf(effects), 2), share)
}

// middleOf is the median of values.
func middleOf(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[(len(values)-1)/2]/2 + values[len(values)/2]/2
}

// medianOf writes the median effect of the readings that choose an option, or none if there are none.
func (s Specification) medianOf(axis, option int, none string) string {
	var effects []float64
	for _, r := range s.Readings {
		if r.Choices[axis] == option {
			effects = append(effects, r.Effect)
		}
	}
	if len(effects) == 0 {
		return none
	}
	return Signed(middleOf(effects), 2)
}

// counts returns how many readings there are of each bearing, and how many marked ones.
func (s Specification) counts() (of [3]int, marked int) {
	for _, r := range s.Readings {
		of[r.bearing()]++
		if r.Marked {
			marked++
		}
	}
	return of, marked
}

// description returns the caption, and what the drawing shows for those who do not see it.
func (s Specification) description() string {
	of, marked := s.counts()
	parts := []string{s.Caption, s.summary() + ".",
		fmt.Sprintf("The interval is above 0 in %d, includes 0 in %d and is below 0 in %d;", of[above], of[neither],
			of[below]),
		fmt.Sprintf("%d are %s.", marked, s.markName())}
	for k, a := range s.Axes {
		var options []string
		for option, name := range a.Options {
			options = append(options, svg.Plain(name)+" "+s.medianOf(k, option, "no reading"))
		}
		parts = append(parts, "Median by "+svg.Plain(a.Name)+": "+strings.Join(options, ", ")+".")
	}
	return sentences(parts...)
}
