package pickle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGraphsOfManyTypesAndSparseTensorsComeWithAdvice(t *testing.T) {
	for global, advice := range map[string]string{
		"ctorch_geometric.data.hetero_data\nHeteroData\n.": "Save a graph of one type of nodes instead: " +
			"data.to_homogeneous()",
		"ctorch_sparse.tensor\nSparseTensor\n.":    "Save dense tensors instead: x.to_dense(), and edge_index in place of adj_t",
		"ctorch._utils\n_rebuild_sparse_tensor\n.": "Save dense tensors instead: ",
		"ctorch_sparse.storage\nStorage\n.":        "Save dense tensors instead: ",
		"ctorch\nSparseTensor\n.":                  "Save dense tensors instead: ",
	} {
		value, err := Read([]byte("\x80\x02"+global), free)
		require.NoError(t, err)
		require.Contains(t, Describe(value), advice)
	}
	for name, pickle := range map[string]string{
		"a call":            "\x80\x02cos\nsystem\nX\x01\x00\x00\x001\x85R.",
		"protocol 4":        "\x80\x04\x95\x15\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c\x01x\x85\x94R.",
		"state":             "\x80\x02cos\nsystem\n)\x81}b.",
		"state and entries": "\x80\x02cos\nsystem\n)\x81K\x01aK\x01K\x02s.",
		"keywords":          "\x80\x04cos\nsystem\n)}\x92.",
	} {
		value, err := Read([]byte(pickle), free)
		require.NoError(t, err, name)
		require.Equal(t, Unknown{"os", "system"}, value, name)
		require.NotContains(t, Describe(value), "Save ")
	}
	value, err := Read([]byte("\x80\x04]\x94(\x8f\x94(K\x01K\x02\x90h\x01e."), free)
	require.NoError(t, err)
	require.Equal(t, &List{Items: []any{Unknown{"builtins", "set"}, Unknown{"builtins", "set"}}}, value)
}
