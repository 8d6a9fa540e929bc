package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/internal/wholefile"
)

// CrateFile is the name of [WriteCrate]'s file, at the root.
const CrateFile = "ro-crate-metadata.json"

type entity map[string]any

func refer(ids ...string) (all []entity) {
	for _, id := range ids {
		all = append(all, entity{"@id": id})
	}
	return all
}

var crateFiles = []struct{ path, name, format string }{
	{"docs/claims.json", "The verdict on each claim, for programs", "application/json"},
	{"docs/CLAIMS.md", "The verdict on each claim, and the rules", "text/markdown"},
	{"docs/REPRODUCTION.md", "What was found", "text/markdown"},
	{"docs/FORMATS.md", "What the fields of claims.json mean", "text/markdown"},
	{"paper/PROTOCOL.md", "The protocol of the exploratory readings", "text/markdown"},
	{"paper/PROTOCOL-2.md", "The protocol of the cited reading", "text/markdown"},
	{"paper/PROTOCOL-3.md", "The protocol of graphs unlike Cora", "text/markdown"},
	{"paper/DEVIATIONS.md", "What differs from the protocols", "text/markdown"},
	{"CITATION.cff", "How to cite it", "text/yaml"},
	{"LICENSE", "Apache License 2.0", "text/plain"},
}

// WriteCrate writes an RO-Crate 1.1 of results and findings, rooted in the parent of results. A missing file is an
// error.
func WriteCrate(w io.Writer, results string) error {
	root, folder := filepath.Dir(filepath.Clean(results)), filepath.Base(results)
	cited, err := citation(filepath.Join(root, "CITATION.cff"))
	if err != nil {
		return err
	}
	var parts []string
	var files []entity
	add := func(file, name, format string) error {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: not a file", file)
		}
		if err != nil {
			return fmt.Errorf("a crate lists it: %w", err)
		}
		parts = append(parts, file)
		files = append(files, entity{"@id": file, "@type": "File", "name": name, "encodingFormat": format})
		return nil
	}
	for _, f := range crateFiles {
		if err := add(f.path, f.name, f.format); err != nil {
			return err
		}
	}
	var records []string
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl"} {
		found, err := fs.Glob(os.DirFS(results), pattern)
		if err != nil {
			return err
		}
		for _, file := range found {
			records = append(records, path.Join(folder, file))
		}
	}
	slices.Sort(records)
	for _, file := range records {
		if err := add(file, "Trials, one a line", "application/jsonl"); err != nil {
			return err
		}
	}
	const paper, authors, program, judging = "https://arxiv.org/abs/2001.07524", "#authors", "#nodemask", "#judging"
	graph := append([]entity{
		{"@id": CrateFile, "@type": "CreativeWork", "about": refer("./")[0],
			"conformsTo": refer("https://w3id.org/ro/crate/1.1")[0]},
		{"@id": "./", "@type": "Dataset", "name": "Node masking, reproduced: trials, verdicts and report",
			"description": "Every trial that was run to reproduce Node Masking (arXiv:2001.07524), the verdict on each claim " +
				"of the paper, and the protocols that were fixed before.",
			"datePublished": cited["date-released"], "license": refer("LICENSE")[0], "author": refer(authors)[0],
			"citation": refer(paper)[0], "hasPart": refer(parts...), "mentions": refer(judging)[0]},
		{"@id": judging, "@type": "CreateAction", "name": "nodemask report summary --format json",
			"instrument": refer(program)[0], "object": refer(records...), "result": refer("docs/claims.json")[0]},
		{"@id": program, "@type": "SoftwareApplication", "name": "nodemask", "version": cited["version"],
			"author": refer(authors)[0]},
		{"@id": authors, "@type": "Organization", "name": "The nodemask authors"},
		{"@id": paper, "@type": "ScholarlyArticle",
			"name": "Node Masking: Making Graph Neural Networks Generalize and Scale Better"},
	}, files...)
	text := json.NewEncoder(w)
	text.SetEscapeHTML(false)
	text.SetIndent("", " ")
	return text.Encode(entity{"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph})
}

func citation(file string) (map[string]string, error) {
	f, err := wholefile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	fields, lines := map[string]string{}, bufio.NewScanner(f)
	for lines.Scan() {
		if key, value, is := strings.Cut(lines.Text(), ": "); is && !strings.HasPrefix(key, " ") {
			fields[key] = value
		}
	}
	for _, key := range []string{"version", "date-released"} {
		if fields[key] == "" {
			return nil, fmt.Errorf("%s: no %s", file, key)
		}
	}
	return fields, lines.Err()
}
