package datasets

import (
	"bytes"
	"compress/gzip"
)

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // memory does not fail
	_ = w.Close()
	return b.Bytes()
}

// damaged returns b with another checksum at its end.
func damaged(b []byte) []byte {
	b[len(b)-8] ^= 1
	return b
}
