package hyper

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParametersOutOfRangeAreNamedWithTheirRange(t *testing.T) {
	good, err := Preset("standard")
	require.NoError(t, err)
	require.NoError(t, good.Check())
	for want, change := range map[string]func(*Parameters){
		`no model "gim"`: func(p *Parameters) { p.Model = "gim" },
		"keep rate 1.5: expected a probability above 0 and up to 1": func(p *Parameters) { p.KeepRate = 1.5 },
		"keep rate -0.5: expected":                                  func(p *Parameters) { p.KeepRate = -0.5 },
		"layers: 0: expected":                                       func(p *Parameters) { p.Layers = 0 },
		"hidden width: -1":                                          func(p *Parameters) { p.Hidden = -1 },
		"dropout 1: expected":                                       func(p *Parameters) { p.Dropout = 1 },
		"learning rate -1":                                          func(p *Parameters) { p.LearningRate = -1 },
		"weight decay NaN":                                          func(p *Parameters) { p.WeightDecay = math.NaN() },
		`early stopping on "luck"`:                                  func(p *Parameters) { p.StopOn = "luck" },
		`no masking over "nobody"`:                                  func(p *Parameters) { p.MaskOver = "nobody" },
		"linear layers of an MLP: 0":                                func(p *Parameters) { p.MLPLayers = 0 },
		"epsilon 1e+300: expected a number from -1e+06 to 1e+06":    func(p *Parameters) { p.Epsilon = 1e300 },
		"weight decay 1e+300: expected a number from 0 to 1e+06":    func(p *Parameters) { p.WeightDecay = 1e300 },
		"max epochs: 0: expected 1 to":                              func(p *Parameters) { p.MaxEpochs = 0 },
		"patience: 0: expected 1 to":                                func(p *Parameters) { p.Patience = 0 },
		"epsilon NaN":                                               func(p *Parameters) { p.Epsilon = math.NaN() },
		"epsilon +Inf":                                              func(p *Parameters) { p.Epsilon = math.Inf(1) },
		`no regulariser "luck"`:                                     func(p *Parameters) { p.Regulariser = "luck" },
		"without a regulariser":                                     func(p *Parameters) { p.RegulariserRate = 0.5 },
		"regulariser's rate 1": func(p *Parameters) {
			p.Regulariser, p.RegulariserRate = DropEdgeRegulariser, 1
		},
		"hidden width 64: expected a multiple of the 7 attention heads": func(p *Parameters) { p.Model, p.Heads = "gat", 7 },
		"multiple of the 7 attention heads": func(p *Parameters) {
			p.Model, p.Heads, p.Layers, p.Readout = "gat", 7, 1, ReadoutLast
		},
		`no batch normalisation "luck": expected one of ["inside" "both"]`: func(p *Parameters) { p.Norm = "luck" },
		`batch normalisation "inside" in MLPs of 1 linear layer`:           func(p *Parameters) { p.Norm = NormInside },
		`batch normalisation "both" for the model gcn`: func(p *Parameters) {
			p.Model, p.MLPLayers, p.Norm = "gcn", 2, NormBoth
		},
		`no readout "luck": expected one of ["last" "all"]`: func(p *Parameters) { p.Readout = "luck" },
		`no self term "luck": expected one of ["kept"]`:     func(p *Parameters) { p.SelfTerm = "luck" },
		`self term "kept" for the model gin: expected none, since only GAT, SGAT and GATv2 can keep it`: func(p *Parameters) {
			p.SelfTerm = SelfKept
		},
		`no dropout on "luck": expected one of ["scores"]`: func(p *Parameters) { p.DropoutOn = "luck" },
		`dropout on "scores" without a readout`:            func(p *Parameters) { p.DropoutOn = DropoutOnScores },
	} {
		p := good
		change(&p)
		require.ErrorContains(t, p.Check(), want)
	}
	_, err = Preset("best")
	require.ErrorContains(t, err, `no preset "best"`)
	_, err = For("gim")
	require.ErrorContains(t, err, `no model "gim"`)
}

func TestEveryModelHasAPresetThatPassesItsCheck(t *testing.T) {
	for _, model := range Models() {
		p, err := For(model)
		require.NoError(t, err)
		require.Equal(t, model, p.Model)
		require.Equal(t, TraitsOf(model).Preset, p.Preset)
		require.NoError(t, p.Check())
		require.False(t, p.KeepRate.Active(), "presets do not mask")
	}
}

func TestMaskingTakesAttentionDropoutAway(t *testing.T) {
	p, err := Preset("gat")
	require.NoError(t, err)
	require.Equal(t, 0.6, p.WithMasking(1).AttentionDropout)
	require.Equal(t, 0.0, p.WithMasking(0.5).AttentionDropout)
	require.Equal(t, KeepRate(0.5), p.WithMasking(0.5).KeepRate)
}

func TestMaskingAtARateOfZeroIsRefusedAndNotTakenForNone(t *testing.T) {
	p, err := Preset("gat")
	require.NoError(t, err)
	require.EqualError(t, p.WithMasking(0).Check(), "keep rate 0: expected a probability above 0 and up to 1, where 1 keeps "+
		"every node and 0 would mask every one")
	text, err := json.Marshal(p.WithMasking(0))
	require.NoError(t, err)
	var back Parameters
	require.NoError(t, json.Unmarshal(text, &back))
	require.ErrorContains(t, back.Check(), "keep rate 0: expected")
}

func TestAKeepRateWithoutAnInverseInFloat32IsRefused(t *testing.T) {
	require.EqualError(t, KeepRate(1e-300).Check(), "keep rate 1e-300: expected at least 3e-39: float32 does not hold what "+
		"divides by less, as rescaling does")
	require.NoError(t, KeepRate(3e-39).Check())
	require.False(t, math.IsInf(float64(float32(1/3e-39)), 1))
}

func TestTheZeroKeepRateKeepsEveryNodeAsOneDoes(t *testing.T) {
	for _, p := range []KeepRate{0, 1} {
		require.False(t, p.Active())
		require.Equal(t, 1.0, p.Probability())
		require.NoError(t, p.Check())
	}
	require.True(t, KeepRate(0.3).Active())
	require.Equal(t, 0.3, KeepRate(0.3).Probability())
	require.NoError(t, KeepRate(0.3).Check())
}

func TestAKeepRateThatIsNoProbabilityIsRefused(t *testing.T) {
	for _, p := range []float64{-0.1, 1.5, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, KeepRate(p).Check(), "expected a probability above 0 and up to 1")
		_, err := NewKeepRate(p)
		require.ErrorContains(t, err, "expected a probability above 0 and up to 1")
	}
	_, err := NewKeepRate(0)
	require.EqualError(t, err, "keep rate 0: expected a probability above 0 and up to 1, where 1 keeps every node and 0 would "+
		"mask every one", "who asks for 0 does not mean 1")
	p, err := NewKeepRate(0.5)
	require.NoError(t, err)
	require.Equal(t, KeepRate(0.5), p)
}

func TestParametersAreTheSameWhenTheyComeBackFromJSON(t *testing.T) {
	for _, model := range Models() {
		p, err := For(model)
		require.NoError(t, err)
		p = p.WithMasking(0.5)
		p.Regulariser, p.RegulariserRate, p.LearnEpsilon = DropEdgeRegulariser, 0.25, true
		p.Norm, p.Readout, p.Residual, p.SelfTerm, p.DropoutOn = NormBoth, ReadoutAll, true, SelfKept, DropoutOnScores
		text, err := json.Marshal(p)
		require.NoError(t, err)
		var back Parameters
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, p, back)
	}
}

func TestReadingsThatAreNotChosenLeaveNoTraceInJSON(t *testing.T) {
	p, err := Preset("standard")
	require.NoError(t, err)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, `{"preset":"standard","model":"gin","layers":2,"hidden":64,"mlp_layers":1,"epsilon":0,"dropout":0.5,"keep_rate":1,`+
		`"mask_over":"all","rescale":false,"learning_rate":0.01,"weight_decay":0.0005,"normalize_features":true,"max_epochs":1000,"patience":50,`+
		`"stop_on":"loss"}`, string(text))
}
