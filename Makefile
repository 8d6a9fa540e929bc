# Needs Go 1.26.5 or newer, and for notebooks Python 3.10. A C compiler makes it fast (XLA): without it nodemask computes in pure Go.

FUZZTIME ?= 10m
# Left alone, go test spends a minute making each new input smaller, and next to nothing on finding more.
MINIMIZE := -fuzzminimizetime 10x

# Once for all recipes, so that set-up, build and tests agree. CGO_ENABLED=0 in the environment builds without XLA.
ifndef CGO_ENABLED
CGO_ENABLED := $(shell scripts/cgo.sh)
endif
export CGO_ENABLED
# As internal/gobuild and scripts/lab/setup.sh have them, so that nothing is compiled twice. Tests are told by the linker
# where the clone is, as -trimpath leaves it out.
override GOFLAGS += -trimpath -tags=netgo,osusergo
export GOFLAGS
# 'make test' runs go vet over everything by itself.
TEST := go test -vet=off "-ldflags=-X 'nodemask/internal/checkout.built=$(CURDIR)'"

.DEFAULT_GOAL := reports
.PHONY: help reports pdf lab setup setup-lab notebooks build demo test test-beam vet style lint torture third-party sbom vulncheck fuzz bench bench-peers gpu-check gpu-run test-cluster clean-setup

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# JupyterLab completes names with gopls, which takes half a minute to compile: where pages are all that is asked for, it
# is left out.
ifeq ($(filter-out reports,$(MAKECMDGOALS)),)
export PAGES_ALONE := 1
endif

# Notebooks run at small size, to be done in minutes: NODEMASK_SMALL=0 has them run in full.
reports: export NODEMASK_SMALL ?= 1
reports: export FIRST_PAGE := 1
reports: setup-lab build ## run all notebooks and write reports/index.html (what 'make' alone does; REPORTS=--force: unchanged ones too)
	@bin/nodemask page --site reports
	@bin/nodemask report -o reports/report.html
	@scripts/reports/run.sh --with-parent $(REPORTS)

pdf: build ## write reports/report.pdf: every table and figure, printed by Chromium
	@bin/nodemask report -o reports/report.html
	@scripts/reports/pdf.sh reports/report.html reports/report.pdf

PORT ?= 8888
lab: setup-lab ## open the notebooks in JupyterLab (PORT=8888)
	@scripts/lab/start.sh $(PORT)

setup-lab: ## set up JupyterLab with a Go kernel, and XLA, in .nodemask
	@scripts/lab/setup.sh

notebooks: setup-lab ## clear the notebooks of outputs and editors' metadata, as they are committed
	@scripts/reports/run.sh --with-parent --clean

setup: ## fetch XLA into .nodemask (PJRT=cuda: for a GPU too; PJRT=none: not at all)
	@scripts/setup.sh

build: ## build bin/nodemask
	@command -v go >/dev/null || { echo "make: go was not found: install Go 1.26.5 or newer from https://go.dev/dl" >&2; exit 1; }
	@go run ./scripts/build bin/nodemask ./cmd/nodemask

demo: setup build ## set up, build, and train a GNN with and without node masking, as in the paper
	bin/nodemask train --preset paper --trials 3

test: reports build vet ## set up, build, check and test everything, notebooks too
	$(TEST) -timeout 12m ./...
	$(MAKE) --no-print-directory test-beam

# A module of its own, so that nothing else here needs Apache Beam: the first build takes a minute of a processor, and programs have 90 MB.
test-beam: ## check and test the pipelines of Apache Beam in nmgnn/beam alone
	cd nmgnn/beam && go vet ./... && $(TEST) -timeout 20m ./...

vet: ## check with gofmt and go vet
	@unformatted=$$("$$(go env GOROOT)/bin/gofmt" -l */) || exit 1; [ -z "$$unformatted" ] || { echo "make: run gofmt -w on:" $$unformatted >&2; exit 1; }
	go vet ./...

TOOL := go tool -modfile=tools/go.mod
style: ## check the order of imports, spelling and errors that nobody looks at (seconds)
	@unordered=$$($(TOOL) goimports -local nodemask -l $$(git ls-files '*.go')) || exit 1; [ -z "$$unordered" ] || { echo "make: run goimports -local nodemask -w on:" $$unordered >&2; exit 1; }
	@git ls-files '*.go' '*.md' '*.py' '*.sh' '*.yml' ':!THIRD_PARTY.md' | xargs $(TOOL) misspell -error -i modle,sumary
	$(TOOL) errcheck -ignoretests -exclude tools/errcheck.txt ./...

lint: vet style ## check with staticcheck too (minutes, the first time)
	$(TOOL) staticcheck ./...
	cd nmgnn/beam && go tool -modfile=../../tools/go.mod staticcheck ./...

# GoMLX's pure-Go backend computes addresses beyond its slices, which checkptr, a part of -race, takes for a fault.
TORTURE ?= ./...
torture: setup-lab build ## every fault at every system call, and all tests with the race detector (an hour; TORTURE=./paper/record: of one package)
	NODEMASK_TORTURE=1 CGO_ENABLED=1 $(TEST) -race -gcflags=github.com/gomlx/...=-d=checkptr=0 -p 1 -timeout 90m $(TORTURE)

third-party: ## write THIRD_PARTY.md, the licences of all that is linked
	scripts/thirdparty/run.sh

sbom: build ## list the parts of bin/nodemask, of pages and of XLA's plugin as CycloneDX in bin/*.cdx.json
	scripts/sbom.sh

vulncheck: ## look for known vulnerabilities in what is called (asks vuln.go.dev)
	go tool -modfile=tools/supply/go.mod govulncheck ./...
	cd nmgnn/beam && go tool -modfile=../../tools/supply/go.mod govulncheck ./...

fuzz: ## fuzz every reader, 10 minutes each (FUZZTIME=30s: half a minute)
	@grep -rEo '^func Fuzz\w+' --include='*_test.go' --exclude-dir='.?*' --exclude-dir=node_modules . | \
	sed -E 's|/[^/]*:func | |' | sort | while read -r package target; do \
		echo "$$package $$target"; \
		$(TEST) "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $(MINIMIZE) || exit 1; \
	done

bench: setup ## time training epochs (BENCH=Epoch/cora/go/gin: some of them)
	$(TEST) ./nmgnn/train -run '^$$' -bench '$(or $(BENCH),Epoch)' -benchtime 10x -timeout 1h

gpu-check: setup ## compile every model for an H100 and an A100, with no GPU there, and hold bounds (fetches 256 MB; GPUCHECK="-models gin": less)
	@nmgnn/internal/gpucheck/run.sh $(GPUCHECK)

gpu-run: setup ## on a machine with an NVIDIA GPU, after CUDA=1 make setup: hold every model to the CPU's numbers, and time epochs
	go test ./nmgnn/internal/gpucheck -run AGPUComputes -count=1 -v -timeout 60m

PEERS := .nodemask/peers
bench-peers: setup ## the same beside PyTorch Geometric and tuned PyTorch, fetched from PyPI (some 10 GB)
	scripts/peers/setup.sh $(PEERS)
	scripts/peers/bench.sh $(PEERS)

# Kubernetes' own schemas are inside kubectl-validate, which takes a while to build the first time.
test-cluster: build ## check docker/: scripts, Kubernetes' schemas, and a Slurm cluster of its own (as root; Debian's shellcheck, slurm-wlm, munge)
	shellcheck --severity=info docker/*.sh scripts/*.sh scripts/*/*.sh
	go run sigs.k8s.io/kubectl-validate@v0.0.4 --version 1.30 docker/kubernetes-job.yaml
	docker/try-slurm.sh

clean-setup: ## remove what set-up, build and reports made
	rm -rf .nodemask bin reports
