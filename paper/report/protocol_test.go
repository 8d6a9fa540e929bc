package report

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

func TestResultsWereRunUnderTheProtocolsAsTheyStand(t *testing.T) {
	require.NotEqual(t, judge.FirstProtocol(), judge.SecondProtocol())
	versions := map[bool]map[string]bool{false: {}, true: {}} // of the first protocol
	for folder, hash := range map[string]string{FirstFolder: judge.FirstProtocol(),
		SecondFolder: judge.SecondProtocol(), ThirdFolder: judge.ThirdProtocol()} {
		all, err := record.Open(filepath.Join(results, folder)).Load()
		require.NoError(t, err)
		require.NotEmpty(t, all)
		for _, one := range all {
			require.Equal(t, hash, one.Protocol,
				"%s: %s on %s: rules that came later than results cannot have been fixed before", folder, one.Model, one.Data)
			regulariser := one.Parameters.Regulariser
			added := regulariser == hyper.DropMessageRegulariser || regulariser == hyper.DropGNNRegulariser
			if folder == FirstFolder {
				versions[added][one.Version] = true
			}
		}
	}
	require.Len(t, versions[false], 1, "all that the protocol asks for of one version")
	require.Len(t, versions[true], 1, "all that was added of one version")
}

func TestTheDepthFigureHasTheBestUnmaskedBody(t *testing.T) {
	bodies := judge.Options("one linear: mlp=1", "two linear: mlp=2", "two, norm inside: mlp=2 norm=inside",
		"two, norm inside and after: mlp=2 norm=both")
	readouts := judge.Options("last layer", "all layers: readout=all")
	store := record.Open(filepath.Join(results, FirstFolder))
	readings := store.Results(func(err error) { require.NoError(t, err) })
	scores := map[[2]int]float64{} // mean validation F1 at 16 layers on three splits, by body and readout
	best := [2]int{}
	for body, option := range bodies {
		for readout, from := range readouts {
			for _, setting := range datasets.Settings() {
				values := maps.Clone(option.Choices)
				maps.Copy(values, from.Choices)
				values["layers"], values["keep"], values["stop"] = "16", "1", string(hyper.StopOnF1)
				c, err := record.NewCell("cora", "gin", setting, 10).Choose(values)
				require.NoError(t, err)
				n := 0
				for _, trial := range readings.ReadOff(c) {
					if trial.Seed >= 200 && trial.Seed < 203 {
						scores[[2]int{body, readout}] += trial.ValidationF1 / 6
						n++
					}
				}
				require.Equal(t, 3, n)
			}
			if scores[[2]int{body, readout}] > scores[best] {
				best = [2]int{body, readout}
			}
		}
	}
	require.Equal(t, "two, norm inside, all layers", bodies[best[0]].Name+", "+readouts[best[1]].Name)
	cell := judge.DepthCell("cora", datasets.Transductive, 16)
	require.Equal(t, []any{2, hyper.NormInside, hyper.ReadoutAll, hyper.StopOnF1}, []any{cell.Parameters.MLPLayers,
		cell.Parameters.Norm, cell.Parameters.Readout, cell.Parameters.StopOn})
}

func TestTablesAreInTheCitedReading(t *testing.T) {
	for _, model := range judge.Models() {
		for _, setting := range datasets.Settings() {
			q, err := judge.QuestionOf(judge.Cited, "cora", model, setting)
			require.NoError(t, err)
			first := make(judge.Reading, len(q.Axes))
			for arm, keep := range map[judge.Arm]hyper.KeepRate{judge.Plain: 1,
				judge.Masked: paper.MaskedKeepRate} {
				want, err := first.Cell(q.Axes, arm, "cora", model, setting, 10)
				require.NoError(t, err)
				c := resplit(paper.Cell("cora", model, setting, 10))
				if keep.Active() {
					c = paper.Masked(c, float64(keep))
				}
				require.Equal(t, want.Key(), c.Key())
			}
		}
	}
}
