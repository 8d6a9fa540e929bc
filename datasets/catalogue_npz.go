package datasets

// The collections that publish a graph as one npz file.
const (
	yandexURL    = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/"
	benchmarkURL = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"
)

// npzInfos lists the heterophilous benchmark, with ten splits a graph, and the gnn-benchmark collection. Homophily is
// measured where the file was read, else as its authors state it.
func npzInfos() []Info {
	yandex := func(name, kind, description, file string, nodes int, edges int64, features, classes int, homophily float64,
		f File) Info {
		f.Name = file + ".npz"
		f.URL = yandexURL + f.Name
		return Info{Name: name, Description: description, Licence: "MIT (the repository's)", Kind: kind, Files: []File{f},
			Homepage: "https://github.com/yandex-research/heterophilous-graphs", Nodes: nodes, Edges: edges,
			Features: features, Classes: classes, Homophily: homophily}
	}
	benchmark := func(name, kind, description, file, git string, nodes int, edges int64, features, classes int,
		homophily float64) Info {
		return Info{Name: name, Description: description, Licence: "MIT (the repository's)", Kind: kind,
			Files:    []File{{Name: file + ".npz", URL: benchmarkURL + file + ".npz", Git: git}},
			Homepage: "https://github.com/shchur/gnn-benchmark", Nodes: nodes, Edges: edges, Features: features,
			Classes: classes, Homophily: homophily}
	}
	return []Info{
		benchmark("coauthor-cs", "co-authors", "authors in computer science who wrote together; features: keywords",
			"ms_academic_cs", "9bdd7da943d86b74297e8d32e99eb64245b52835", 18_333, 81_894, 6_805, 15, 0.81),
		benchmark("coauthor-physics", "co-authors", "authors in physics who wrote together; features: keywords",
			"ms_academic_phy", "8d8bc12e29aa67f6753a712080eae81079bd7d01", 34_493, 247_962, 8_415, 5, 0.93),
		benchmark("amazon-photo", "products", "photo products bought together; features: words of reviews",
			"amazon_electronics_photo", "97323743cb56aca9dd611f5b4b46862c1c9c6bd9", 7_650, 119_081, 745, 8, 0.83),
		benchmark("amazon-computers", "products", "computer products bought together; features: words of reviews",
			"amazon_electronics_computers", "8120e4148a330b3fafe37c4476823302d9d834b9", 13_752, 245_861, 767, 10, 0.78),
		yandex("amazon-ratings", "products", "products bought together, by their rating; features: words",
			"amazon_ratings", 24_492, 93_050, 300, 5, 0.38, File{Git: "29647a8b0ff0ef856d73d683a8c3595bd5efbd38"}),
		yandex("tolokers", "people", "workers on one task, banned or not; features: their profiles", "tolokers", 11_758,
			519_000, 10, 2, 0.59, File{Size: 1_329_769,
				SHA256: "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"}),
		yandex("questions", "people", "who answered whom, still active or not; features: words", "questions", 48_921,
			153_540, 301, 2, 0.84, File{Git: "4c7cb65057dbc9771af00fdfdee64a41b3875079"}),
		yandex("actor", "web pages", "actors on one page of Wikipedia; features: words", "actor", 7_600, 26_659, 932, 5, 0.22,
			File{Size: 252_956, SHA256: "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"}),
		yandex("squirrel-filtered", "web pages", "pages on squirrels that link, without copies; features: words",
			"squirrel_filtered", 2_223, 46_998, 2_089, 5, 0.21, File{Size: 208_215,
				SHA256: "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7"}),
		yandex("chameleon-filtered", "web pages", "pages on chameleons that link, without copies; features: words",
			"chameleon_filtered", 890, 8_854, 2_325, 5, 0.24, File{}),
		yandex("roman-empire", "words", "words of an article, by their role; features: word vectors", "roman_empire", 22_662,
			32_927, 300, 18, 0.05, File{Git: "1f9bae5e95b28e529015269e98acb237b65d8d3b"}),
		yandex("minesweeper", "grids", "fields of a game, mined or not; features: mines around", "minesweeper", 10_000, 39_402,
			7, 2, 0.68, File{Size: 135_045,
				SHA256: "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"}),
	}
}
