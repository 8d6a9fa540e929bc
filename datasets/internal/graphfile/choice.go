package graphfile

import "context"

// Choice selects a file's class column and masks.
type Choice struct {
	Label string // name of the class column or attribute; "": see [LabelColumns]
	Mask  int    // which column of the masks, from 1; 0: all
}

type choiceKey struct{}

// WithChoice returns ctx with a choice for readers.
func WithChoice(ctx context.Context, c Choice) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

// ChoiceOf returns the context's choice; a context without one has Choice{}.
func ChoiceOf(ctx context.Context) Choice {
	c, _ := ctx.Value(choiceKey{}).(Choice)
	return c
}

// LabelColumns returns the names that the class column may have; the first present wins.
func LabelColumns(ctx context.Context) []string {
	if c := ChoiceOf(ctx); c.Label != "" {
		return []string{c.Label}
	}
	return namesOf[Class]
}
