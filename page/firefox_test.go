package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// firefox drives a Firefox without a window by WebDriver BiDi.
type firefox struct {
	*testing.T
	send func(text []byte) error
	read func() ([]byte, error)
	last int
	tab  string
}

// openFirefox shows a page in Firefox, or skips the test where none is installed.
func openFirefox(t *testing.T, path string) *firefox {
	t.Helper()
	program, err := exec.LookPath("firefox")
	if err != nil {
		t.Skip("no Firefox: install it ('apt-get install firefox-esr', for instance) to test pages that train in one")
	}
	command := exec.CommandContext(t.Context(), program, "--headless", "--no-remote", "--profile", t.TempDir(),
		"--remote-debugging-port", "0")
	command.WaitDelay = 10 * time.Second
	said, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "WebDriver BiDi listening on ")
	}
	require.NotEmpty(t, address, "Firefox ended without a word")
	go func() { // so that it is never held up by what it says
		for lines := bufio.NewScanner(said); lines.Scan(); {
			_ = lines.Text()
		}
	}()
	connection, _, _, err := ws.Dial(t.Context(), address+"/session")
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	f := &firefox{T: t, send: func(text []byte) error { return wsutil.WriteClientText(connection, text) },
		read: func() ([]byte, error) { return wsutil.ReadServerText(connection) }}
	f.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	var created struct{ Context string }
	f.call("browsingContext.create", map[string]any{"type": "tab"}, &created)
	f.tab = created.Context
	f.call("browsingContext.navigate", map[string]any{"context": f.tab, "url": "file://" + path, "wait": "complete"}, nil)
	return f
}

// call sends a command and reads its result. Events on the way are passed over.
func (f *firefox) call(method string, params map[string]any, result any) {
	f.Helper()
	f.last++
	text, err := json.Marshal(map[string]any{"id": f.last, "method": method, "params": params})
	require.NoError(f, err)
	require.NoError(f, f.send(text))
	for {
		text, err := f.read()
		require.NoError(f, err)
		var answer struct {
			ID      int
			Type    string
			Result  json.RawMessage
			Message string
		}
		require.NoError(f, json.Unmarshal(text, &answer))
		if answer.ID != f.last {
			continue
		}
		require.Equal(f, "success", answer.Type, "%s: %s", method, answer.Message)
		if result != nil {
			require.NoError(f, json.Unmarshal(answer.Result, result))
		}
		return
	}
}

// js computes an expression whose value is a text; a promise is waited for.
func (f *firefox) js(expression string) string {
	f.Helper()
	var answer struct {
		Type   string
		Result struct{ Value string }
	}
	f.call("script.evaluate", map[string]any{"expression": expression, "target": map[string]any{"context": f.tab},
		"awaitPromise": true}, &answer)
	require.Equal(f, "success", answer.Type, expression)
	return answer.Result.Value
}

func TestFirefoxTrainsAsTheCommandDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains in a browser for seconds")
	}
	f := openFirefox(t, written(t, func(o *Options) { o.Beside = "nodemask.js" }))
	models, settings := []string{"gin", "gat", "sgat"}, []datasets.Setting{datasets.Inductive}
	keeps, seeds := []string{"0.5"}, []uint64{2}
	if os.Getenv("NODEMASK_PARITY") != "" { // some minutes
		models, settings, keeps, seeds = []string{"gin", "gat", "sgat"}, datasets.Settings(), []string{"1",
			"0.5"}, []uint64{1, 2}
	}
	for _, model := range models {
		for _, setting := range settings {
			for _, keep := range keeps {
				for _, seed := range seeds {
					cell := Cell{Data: "cora", Model: model, Setting: setting, TrainPercent: 10,
						Choices: map[string]string{"keep": keep}}
					text, err := json.Marshal(cell)
					require.NoError(t, err)
					line := f.js(fmt.Sprintf(`window.nodemaskPlayground.engine.ask({kind: 'train', seed: %d, cell: %s})`+
						`.done.then(e => e.trained.record, e => String(e))`, seed, text))
					sameAsHere(t, line, cell, seed)
				}
			}
		}
	}
}
