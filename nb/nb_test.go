//go:build unix

package nb

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/plots"
)

// kernel plays gonb: it collects output until asked for an acknowledgement.
func kernel(t *testing.T) (shown func() []map[protocol.MIMEType]any) {
	folder := t.TempDir()
	there, back := filepath.Join(folder, "there"), filepath.Join(folder, "back")
	require.NoError(t, syscall.Mkfifo(there, 0o600))
	require.NoError(t, syscall.Mkfifo(back, 0o600))
	t.Setenv(protocol.GONB_PIPE_ENV, there)
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, back)
	gonbui.IsNotebook = true
	t.Cleanup(func() { gonbui.IsNotebook = false })
	var all []map[protocol.MIMEType]any
	go func() {
		in, err := os.Open(there)
		if err != nil {
			return
		}
		out, err := os.OpenFile(back, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		from, to := gob.NewDecoder(in), gob.NewEncoder(out)
		for {
			var d protocol.DisplayData
			if from.Decode(&d) != nil {
				return
			}
			if sync, ok := d.Data[protocol.MIMECommValue]; ok {
				value := sync.(protocol.CommValue).Value
				_ = to.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: value})
				continue
			}
			all = append(all, d.Data)
		}
	}()
	// Every function waits for the acknowledgement, so reading comes after all writing.
	return func() []map[protocol.MIMEType]any { return all }
}

func TestEverythingArrivesInANotebook(t *testing.T) {
	shown := kernel(t)
	SVG(`<svg xmlns="http://www.w3.org/2000/svg"><style>b</style></svg>`, `a "tree"`)
	Markdown("*$x$*")
	Table(plots.Table{Title: "A < B", Header: []string{"x"}, Rows: [][]plots.Field{{{Text: "1"}}}})
	Chart(plots.Chart{ID: "c", Title: "T.", Caption: "C.", Series: []plots.Series{{Name: "s", X: []float64{1},
		Y: []float64{2}}}})
	all := shown()
	require.Len(t, all, 4)
	assert.Equal(t, map[protocol.MIMEType]any{
		// <svg xmlns="http://www.w3.org/2000/svg"><style>:root{background:#fff}</style><style>b</style></svg>
		protocol.MIMETextHTML:  `<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzdHlsZT46cm9vdHtiYWNrZ3JvdW5kOiNmZmZ9PC9zdHlsZT48c3R5bGU+Yjwvc3R5bGU+PC9zdmc+" alt="a &#34;tree&#34;">`,
		protocol.MIMETextPlain: `[a "tree"]`,
	}, all[0])
	assert.Equal(t, map[protocol.MIMEType]any{protocol.MIMETextMarkdown: "*$x$*", protocol.MIMETextPlain: "*$x$*"}, all[1])
	assert.True(t, strings.HasPrefix(all[2][protocol.MIMETextHTML].(string), "<table"), all[2])
	assert.Contains(t, all[2][protocol.MIMETextPlain], "A < B")
	assert.True(t, strings.HasPrefix(all[3][protocol.MIMETextHTML].(string), `<img src="data:image/svg+xml;base64,`),
		all[3])
	assert.Contains(t, all[3][protocol.MIMETextHTML], `alt="T. C."`)
	assert.Equal(t, "T. C.", all[3][protocol.MIMETextPlain])
}

func TestThousandsAreSetApart(t *testing.T) {
	for digits, want := range map[string]string{"0": "0", "999": "999", "1039": "1,039", "255602105758": "255,602,105,758",
		"-100": "-100", "-1000": "-1,000"} {
		assert.Equal(t, want, grouped(digits))
	}
}
