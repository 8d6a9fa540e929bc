// Package notebook holds what nb and nb/incell share: pictures, live training, and the stop button.
package notebook

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"os/signal"
	"syscall"
)

// UntilStopped returns a context that the notebook's stop button cancels.
func UntilStopped() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// Image returns an <img> with the drawing. Its dark mode rules still hold there, but it cannot inherit the text's
// colour, so it gets a background that contrasts with its ink.
func Image(svg []byte, alt string) string {
	if start := bytes.Index(svg, []byte("<svg")); start >= 0 {
		if end := bytes.IndexByte(svg[start:], '>'); end >= 0 && svg[start+end-1] != '/' {
			at := start + end + 1
			svg = bytes.Join([][]byte{svg[:at], svg[at:]}, []byte("<style>:root{background:#fff}</style>"))
		}
	}
	return fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" alt="%s">`, base64.StdEncoding.EncodeToString(svg),
		html.EscapeString(alt))
}
