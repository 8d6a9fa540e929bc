package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"nodemask/datasets/internal/formats"
	"nodemask/internal/ended"
)

// readPlanetoid checks the files against their published SHA-256, so it need not check their content.
func readPlanetoid(ctx context.Context, open opener, name, source string) (*Graph, error) {
	published := planetoidFiles(name)
	if len(published) == 0 {
		return nil, fmt.Errorf("%q is no graph of Planetoid: expected cora, citeseer or pubmed", name)
	}
	parts := map[string][]byte{}
	for _, file := range published {
		if err := ended.Err(ctx); err != nil {
			return nil, err
		}
		f, err := open(file.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing: expected it next to the other ind.%s files; "+
				"'nodemask data fetch %s' fetches them: %w", file.Name, name, name, err)
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(f, file.Size+1))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != file.SHA256 {
			return nil, fmt.Errorf("%s: SHA-256 is %x: expected %s. The file is damaged: fetch it again with "+
				"'nodemask data fetch %s'", file.Name, sum, file.SHA256, name)
		}
		parts[strings.TrimPrefix(file.Name, "ind."+name+".")] = content
	}
	l, err := formats.Planetoid(ctx, parts)
	if err != nil {
		return nil, fmt.Errorf("ind.%s: %w", name, err)
	}
	if name == "cora" {
		l.Classes = planetoidCoraClasses()
	}
	return fromFile(l, name, source)
}

func planetoidName(files map[string][]byte) string {
	for file := range files {
		if parts := strings.SplitN(file, ".", 3); len(parts) == 3 && parts[0] == "ind" && len(files) > 1 {
			return parts[1]
		}
	}
	return ""
}

// planetoidCoraClasses returns the names of Planetoid's classes 0, 1, and so on, which Planetoid's files lack. The
// names come from LINQS's version of Cora.
func planetoidCoraClasses() []string {
	return []string{"Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods",
		"Case_Based", "Rule_Learning"}
}

const planetoidURL = "https://github.com/kimiyoung/planetoid/raw/master/data/"

func planetoidFiles(name string) []File {
	var files []File
	for _, f := range allPlanetoidFiles {
		if strings.HasPrefix(f.Name, "ind."+name+".") {
			f.URL = planetoidURL + f.Name
			files = append(files, f)
		}
	}
	return files
}

var allPlanetoidFiles = [...]File{
	{Name: "ind.cora.tx", Size: 148025, SHA256: "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
	{Name: "ind.cora.ty", Size: 28135, SHA256: "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
	{Name: "ind.cora.allx", Size: 257305, SHA256: "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
	{Name: "ind.cora.ally", Size: 47959, SHA256: "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
	{Name: "ind.cora.graph", Size: 59847, SHA256: "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
	{Name: "ind.cora.test.index", Size: 5000, SHA256: "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
	{Name: "ind.citeseer.tx", Size: 260321, SHA256: "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
	{Name: "ind.citeseer.ty", Size: 24135, SHA256: "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
	{Name: "ind.citeseer.allx", Size: 595021, SHA256: "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
	{Name: "ind.citeseer.ally", Size: 55623, SHA256: "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
	{Name: "ind.citeseer.graph", Size: 61987, SHA256: "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
	{Name: "ind.citeseer.test.index", Size: 5000,
		SHA256: "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
	{Name: "ind.pubmed.tx", Size: 405505, SHA256: "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
	{Name: "ind.pubmed.ty", Size: 12135, SHA256: "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
	{Name: "ind.pubmed.allx", Size: 7578385, SHA256: "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
	{Name: "ind.pubmed.ally", Size: 224739, SHA256: "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
	{Name: "ind.pubmed.graph", Size: 471808, SHA256: "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
	{Name: "ind.pubmed.test.index",
		Size: 6000, SHA256: "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
}
