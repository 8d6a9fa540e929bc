package nmgnn

type SavedModel struct {
	Settings Settings
	Classes  []string
	Features int
	Weights  []Weight
}
