package datasets

// planetoidSizes holds the size in bytes of each Planetoid file.
var planetoidSizes = map[string]int64{
	"ind.citeseer.allx":       595021,
	"ind.citeseer.ally":       55623,
	"ind.citeseer.graph":      61987,
	"ind.citeseer.test.index": 5000,
	"ind.citeseer.tx":         260321,
	"ind.citeseer.ty":         24135,
	"ind.citeseer.x":          31087,
	"ind.citeseer.y":          3014,
	"ind.cora.allx":           257305,
	"ind.cora.ally":           47959,
	"ind.cora.graph":          59847,
	"ind.cora.test.index":     5000,
	"ind.cora.tx":             148025,
	"ind.cora.ty":             28135,
	"ind.cora.x":              22119,
	"ind.cora.y":              4054,
	"ind.pubmed.allx":         7578385,
	"ind.pubmed.ally":         224739,
	"ind.pubmed.graph":        471808,
	"ind.pubmed.test.index":   6000,
	"ind.pubmed.tx":           405505,
	"ind.pubmed.ty":           12135,
	"ind.pubmed.x":            23172,
	"ind.pubmed.y":            854,
}
