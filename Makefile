# Needs Go 1.26.5 or newer, and for notebooks Python 3.10. A C compiler makes it fast (XLA): without it nodemask computes in pure Go.

FUZZTIME ?= 10m

# Once for all recipes, so that set-up, build and tests agree. CGO_ENABLED=0 in the environment builds without XLA.
ifndef CGO_ENABLED
CGO_ENABLED := $(shell scripts/cgo.sh)
endif
export CGO_ENABLED

.DEFAULT_GOAL := reports
.PHONY: help reports lab setup setup-lab notebooks build demo test test-beam vet lint fuzz bench bench-peers clean-setup

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Notebooks run at small size, to be done in minutes: NODEMASK_SMALL=0 has them run in full.
reports: export NODEMASK_SMALL ?= 1
reports: setup-lab build ## run all notebooks and write reports/index.html (what 'make' alone does; REPORTS=--force: unchanged ones too)
	@bin/nodemask page --site reports
	@bin/nodemask report -o reports/report.html
	@scripts/reports/run.sh $(REPORTS)

PORT ?= 8888
lab: setup-lab ## open the notebooks in JupyterLab (PORT=8888)
	@scripts/lab/start.sh $(PORT)

setup-lab: ## set up JupyterLab with a Go kernel, and XLA, in .nodemask
	@scripts/lab/setup.sh

notebooks: setup-lab ## clear the notebooks of outputs and editors' metadata, as they are committed
	@scripts/reports/run.sh --clean

setup: ## fetch XLA into .nodemask (PJRT=cuda: for a GPU too; PJRT=official: from GitHub; PJRT=none: not at all)
	@scripts/setup.sh

build: ## build bin/nodemask
	@command -v go >/dev/null || { echo "make: go was not found: install Go 1.26.5 or newer from https://go.dev/dl" >&2; exit 1; }
	go build -o bin/nodemask ./cmd/nodemask

demo: setup build ## set up, build, and train a GNN with and without node masking
	bin/nodemask demo

test: reports build vet ## set up, build, check and test everything, notebooks too
	go test -timeout 12m ./...

# Not part of test: the first build takes minutes and makes programs of 80 MB, which nothing else here needs.
test-beam: ## check and test the pipelines of Apache Beam in nmgnn/beam
	cd nmgnn/beam && go vet ./... && go test -timeout 20m ./...

vet: ## check with gofmt and go vet
	@unformatted=$$("$$(go env GOROOT)/bin/gofmt" -l */) || exit 1; [ -z "$$unformatted" ] || { echo "make: run gofmt -w on:" $$unformatted >&2; exit 1; }
	go vet ./...

lint: vet ## check with staticcheck too
	go tool -modfile=tools/go.mod staticcheck ./...

fuzz: ## fuzz every reader, 10 minutes each (FUZZTIME=30s: half a minute)
	go test ./datasets -run '^$$' -fuzz '^FuzzPickle$$' -fuzztime $(FUZZTIME)
	go test ./datasets -run '^$$' -fuzz '^FuzzNPZ$$' -fuzztime $(FUZZTIME)
	go test ./datasets -run '^$$' -fuzz '^FuzzCSV$$' -fuzztime $(FUZZTIME)
	go test ./datasets -run '^$$' -fuzz '^FuzzEdges$$' -fuzztime $(FUZZTIME)
	for format in GraphML NodeLink Torch OGB; do go test ./datasets -run '^$$' -fuzz "^Fuzz$$format\$$" -fuzztime $(FUZZTIME) || exit 1; done
	go test ./datasets/internal/packed -run '^$$' -fuzz '^FuzzDecode$$' -fuzztime $(FUZZTIME)
	go test ./nmgnn/internal/safetensors -run '^$$' -fuzz '^FuzzSafetensors$$' -fuzztime $(FUZZTIME)
	go test ./nmgnn/cached -run '^$$' -fuzz '^FuzzCache$$' -fuzztime $(FUZZTIME)
	go test ./nmgnn/internal/container -run '^$$' -fuzz '^FuzzContainer$$' -fuzztime $(FUZZTIME)
	go test ./record -run '^$$' -fuzz '^FuzzRecord$$' -fuzztime $(FUZZTIME)
	go test ./record -run '^$$' -fuzz '^FuzzParseTrajectory$$' -fuzztime $(FUZZTIME)

bench: setup build ## time training epochs (BENCH="--data cora --models gin": less of it; 'nodemask bench --help')
	bin/nodemask bench $(BENCH)

PEERS := .nodemask/peers
bench-peers: setup build ## the same beside PyTorch Geometric, DGL and tuned PyTorch, fetched from PyPI (some 10 GB)
	scripts/peers/setup.sh $(PEERS)
	bin/nodemask bench --backends xla:cpu --peers $(PEERS)/torch/bin/python=torch-csr,$(PEERS)/torch/bin/python=pyg$$([ ! -e $(PEERS)/dgl/installed ] || echo ,$(PEERS)/dgl/bin/python=dgl) $(BENCH)

clean-setup: ## remove what set-up, build and reports made
	rm -rf .nodemask bin reports
