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
		_, err := ReadTorch([]byte("\x80\x02" + global))
		require.ErrorContains(t, err, "byte 2: ")
		require.ErrorContains(t, err, advice)
	}
	_, err := ReadTorch([]byte("\x80\x02cos\nsystem\n."))
	require.ErrorContains(t, err, `the file asks for "system" from "os"`)
	require.NotContains(t, err.Error(), "Save ")
}
