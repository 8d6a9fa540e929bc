package graphfile

import "context"

// Choice is the user's choice of a file's class and mask columns.
type Choice struct {
	Label string // name of the class column or attribute; "": one of the usual names
	Mask  int    // index from 1 of the split (mask column) to read; 0: all splits
}

type choiceKey struct{}

// WithChoice returns a copy of ctx that carries c. Functions that read a graph file with this context follow c.
func WithChoice(ctx context.Context, c Choice) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

// ChoiceOf returns the choice that ctx carries, or else Choice{}.
func ChoiceOf(ctx context.Context) Choice {
	c, _ := ctx.Value(choiceKey{}).(Choice)
	return c
}

// LabelColumns returns names for the class column. The first that the file has is used.
func LabelColumns(ctx context.Context) []string {
	if c := ChoiceOf(ctx); c.Label != "" {
		return []string{c.Label}
	}
	return namesOf[Class]
}
