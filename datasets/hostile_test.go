//go:build unix

package datasets

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownFiles are each format's files, one of them replaced by a pipe or device.
var ownFiles = []string{"a.npz", "a.graphml", "a.json", "a.pt", "nodes.csv", "edges.csv",
	"raw/edge.csv.gz", "raw/num-node-list.csv.gz", "raw/node-feat.csv.gz"}

func TestNoReaderWaitsForAPipeOrReadsADevice(t *testing.T) {
	for _, file := range ownFiles {
		for kind, put := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		} {
			t.Run(file+" "+kind, func(t *testing.T) {
				dir := t.TempDir()
				target := dir
				switch {
				case strings.HasPrefix(file, "raw/"):
					dir = copyOGB(t, map[string][]byte{file: nil})
					target = dir
				case strings.HasSuffix(file, ".csv"):
					dir = tinyFolder(t)
					target = dir
					require.NoError(t, os.Remove(filepath.Join(dir, file)))
				case kind == "folder":
					t.Skip("a folder may be a graph of its own")
				default:
					target = filepath.Join(dir, file)
				}
				require.NoError(t, put(filepath.Join(dir, file)))
				_, err := Open(t.Context(), target, OpenOptions{})
				require.ErrorContains(t, err, file+": a ")
				require.ErrorContains(t, err, "file")
			})
		}
	}
}

func TestPlanetoidWaitsForNoPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "ind.cora.tx"), 0o600))
	_, err := Open(t.Context(), "cora", OpenOptions{Dir: dir})
	require.ErrorContains(t, err, "ind.cora.tx: a pipe, socket or device")
}

// Only graphfile.Open, which refuses pipes and counts bytes, may open files.
func TestReadersOpenFilesInOnePlace(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			path == "internal/graphfile/file.go" ||
			strings.HasPrefix(path, "internal/fetch/") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, opens := range []string{"os.Open(", "os.OpenFile(", "os.ReadFile("} {
			require.NotContains(t, string(content), opens, path)
		}
		return err
	}))
}

func TestAFileMadeToGrowIsRefusedBeforeItHas(t *testing.T) {
	wide := strings.Repeat("1,", 1<<20) + "1\n"
	for says, table := range map[string]string{
		"a table, unpacked, of more than 64 MiB: expected less": strings.Repeat(wide, 36),
		"a line of more than 16 MiB: expected less":             strings.Repeat("\n", 17<<20),
	} {
		_, err := Open(t.Context(), copyOGB(t, map[string][]byte{"raw/num-node-list.csv.gz": gzipped("200\n"),
			"raw/node-feat.csv.gz": gzipped(table)}), OpenOptions{})
		require.ErrorContains(t, err, says)
	}
}

func TestATensorWithoutDimensionsIsAnErrorNamed(t *testing.T) {
	const tensor = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nLongStorage\nX\x01\x00\x00" +
		"\x001X\x03\x00\x00\x00cpuK\x0ftQK\x00))\x89ccollections\nOrderedDict\n)RtR"
	for _, field := range []string{"edge_index", "x", "y", "train_mask"} {
		head := "\x80\x02}"
		if field != "edge_index" {
			edges := strings.Replace(tensor, "K\x00))", "K\x00K\x02K\x02\x86K\x02K\x01\x86", 1)
			head += "X\x0a\x00\x00\x00edge_index" + edges + "s"
		}
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(field)))
		pickle := head + "X" + string(length) + field + tensor + "s."
		_, err := ReadMemory(t.Context(), "", map[string][]byte{"a.pt": withPickle(t, []byte(pickle))})
		require.ErrorContains(t, err, `field "`+field+`": a tensor without dimensions`)
	}
}

func TestGeneratedGraphsAreRefusedByEstimate(t *testing.T) {
	for _, name := range []string{"sbm:nodes=50000000,degree=10000", "sbm:nodes=40000000,degree=9000"} {
		_, err := Open(t.Context(), name, OpenOptions{})
		require.ErrorContains(t, err, "of memory more")
	}
}

func TestTextThatIsNotUTF8IsNamed(t *testing.T) {
	_, err := csvFrom(t, "id,label,x\n1,caf\xe9,2\n", "source,target\n")
	require.ErrorContains(t, err,
		`nodes.csv: line 2: field 2 is "caf\xe9", which is not UTF-8: convert the file, for instance by 'iconv -f LATIN1`)
}

func TestParquetSaysHowItIsReadAfterAll(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.parquet"), []byte("PAR1"), 0o600))
	for _, path := range []string{dir, filepath.Join(dir, "nodes.parquet")} {
		_, err := Open(t.Context(), path, OpenOptions{})
		require.ErrorContains(t, err, `pd.read_parquet(n + ".parquet").to_csv(n + ".csv", index=False)`)
	}
}
