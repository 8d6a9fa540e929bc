package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
)

// Generators of hostile content: each changes a sound file slightly, so that most of its reader still runs, and repairs
// the checksums that would hide the change.

// evil lists texts that have broken readers.
var evil = []string{"", "-1", "0", "1", "2147483647", "2147483648", "4294967296", "9223372036854775807",
	"-9223372036854775808", "1e308", "1e-320", "NaN", "inf", "null", "true", "{}", "[]", "[[[[[[[[", "\"", ",", "\x00",
	"\n", "\xff\xfe", "\x1b[2J\x1b]0;x\x07", "\u202egnp.exe", "../../../etc/passwd", "xla:/x.so", "%s%n", "<script>",
	"a b", strings.Repeat("9", 400), strings.Repeat("A", 70_000), strings.Repeat("[", 5000), strings.Repeat("é", 3000)}

var (
	lineSum = regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`)
	numbers = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
	words   = regexp.MustCompile(`[A-Za-z_]+`)
)

// mangled changes content in ways that suit its kind, by the name's ending.
func mangled(r *rand.Rand, name string, content []byte) []byte {
	b := bytes.Clone(content)
	switch filepath.Ext(name) {
	case ".npz", ".pt":
		if inside, err := mangledZip(r, b); err == nil && r.IntN(4) > 0 {
			return inside
		}
	case ".gz":
		if text, err := unpacked(b); err == nil && r.IntN(4) > 0 {
			return packed(mangledText(r, text))
		}
	case ".safetensors":
		if inside, ok := mangledTensors(r, b); ok && r.IntN(4) > 0 {
			return inside
		}
	case ".jsonl":
		if r.IntN(3) > 0 {
			return lineSum.ReplaceAll(mangledText(r, b), nil) // old lines have none
		}
	case ".csv", ".graphml", ".json", ".txt", ".index":
		if r.IntN(5) > 0 {
			return mangledText(r, b)
		}
	}
	return mangledBytes(r, b)
}

func piece(r *rand.Rand, n, most int) (begin, end int) {
	if n == 0 {
		return 0, 0
	}
	begin = r.IntN(n)
	return begin, min(n, begin+1+r.IntN(most))
}

func mangledBytes(r *rand.Rand, b []byte) []byte {
	for range 1 + r.IntN(4) {
		if len(b) == 0 {
			return []byte{byte(r.Uint32())}
		}
		at := r.IntN(len(b))
		begin, end := piece(r, len(b), 64)
		switch r.IntN(9) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		case 2:
			b = b[:at]
		case 3:
			clear(b[begin:end])
		case 4: // like lengths
			for i := begin; i < min(end, begin+8); i++ {
				b[i] = 0xff
			}
		case 5:
			b = bytes.Join([][]byte{b[:end], b[begin:]}, nil)
		case 6:
			b = append(b[:begin:begin], b[end:]...)
		case 7:
			b = bytes.Join([][]byte{b[:at], []byte(evil[r.IntN(len(evil))]), b[at:]}, nil)
		case 8:
			if end-begin >= 4 {
				binary.LittleEndian.PutUint32(b[begin:], r.Uint32())
			}
		}
	}
	return b
}

// mangledText replaces numbers and words by evil texts, and repeats, swaps and removes lines.
func mangledText(r *rand.Rand, b []byte) []byte {
	for range 1 + r.IntN(3) {
		lines := bytes.SplitAfter(b, []byte("\n"))
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(8) {
		case 0, 1, 2:
			b = replaced(r, numbers, b)
		case 3, 4:
			b = replaced(r, words, b)
		case 5:
			lines[i] = bytes.Repeat(lines[i], []int{0, 2, 1 + 1<<20/(1+len(b))}[r.IntN(3)])
			b = bytes.Join(lines, nil)
		case 6:
			lines[i], lines[j] = lines[j], lines[i]
			b = bytes.Join(lines, nil)
		case 7:
			b = mangledBytes(r, b)
		}
	}
	return b
}

func replaced(r *rand.Rand, what *regexp.Regexp, b []byte) []byte {
	all := what.FindAllIndex(b, 4096)
	if len(all) == 0 {
		return b
	}
	at := all[r.IntN(len(all))]
	return bytes.Join([][]byte{b[:at[0]], []byte(evil[r.IntN(len(evil))]), b[at[1]:]}, nil)
}

// mangledZip changes a member and repacks all with correct checksums.
func mangledZip(r *rand.Rand, b []byte) ([]byte, error) {
	in, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	chosen := r.IntN(len(in.File))
	for i, f := range in.File {
		from, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		name := f.Name
		if i == chosen {
			if r.IntN(8) == 0 {
				name = evil[r.IntN(len(evil))]
			}
			content = mangledBytes(r, content)
			if r.IntN(3) == 0 {
				content = replaced(r, numbers, content) // of an array's header
			}
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: f.Method})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(content); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

func unpacked(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	return out.Bytes()
}

var dataSum, headerSum = regexp.MustCompile(`("data_sha256":")[0-9a-f]{64}`),
	regexp.MustCompile(`("header_sha256":")[0-9a-f]{64}`)

// mangledTensors changes the header or data of a safetensors file and recomputes both checksums.
func mangledTensors(r *rand.Rand, b []byte) ([]byte, bool) {
	if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8) {
		return nil, false
	}
	n := 8 + int(binary.LittleEndian.Uint64(b))
	header, data := bytes.Clone(b[8:n]), bytes.Clone(b[n:])
	if r.IntN(2) == 0 {
		header = mangledText(r, header)
	} else {
		data = mangledBytes(r, data)
	}
	if r.IntN(2) == 0 { // optional
		header = bytes.Replace(header, []byte(`"fingerprint"`), []byte(`"fingerprin_"`), 1)
	}
	sum := sha256.Sum256(data)
	header = dataSum.ReplaceAll(header, []byte("${1}"+hex.EncodeToString(sum[:])))
	header = headerSum.ReplaceAll(header, []byte("${1}"+strings.Repeat("0", 64)))
	sum = sha256.Sum256(header)
	header = headerSum.ReplaceAll(header, []byte("${1}"+hex.EncodeToString(sum[:])))
	return bytes.Join([][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header, data}, nil), true
}
