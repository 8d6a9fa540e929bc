package graphfile

import "context"

// Choice is what a user takes of a graph's file where it has several.
type Choice struct {
	Label string // the column or attribute of the classes; "": one of the names of classes
	Mask  int    // the column of train_mask and the others, from 1 on, where they have several; 0: all
}

type choiceKey struct{}

// WithChoice returns a context for a reader that makes a choice.
func WithChoice(ctx context.Context, c Choice) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

// ChoiceOf returns the choice that a context makes; the zero one if it makes none.
func ChoiceOf(ctx context.Context) Choice {
	c, _ := ctx.Value(choiceKey{}).(Choice)
	return c
}

// labels are the names that the classes may have: the choice's alone, or else others.
func (c Choice) labels(others []string) []string {
	if c.Label != "" {
		return []string{c.Label}
	}
	return others
}

// LabelColumns returns the names that the column of the classes may have, the first that is there.
func LabelColumns(ctx context.Context) []string { return ChoiceOf(ctx).labels(namesOf[Class]) }
