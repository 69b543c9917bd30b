# Every target runs from a clone with Go alone; tools/ builds the linters.

GO        ?= go
LINT      := $(GO) tool -modfile=tools/go.mod golangci-lint
FUZZTIME  ?= 30s
KILLS     ?= 2000
STEPS     ?= 1000000

.PHONY: all build test race lint fmt bench fuzz soak record recording pictures ci

all: build lint test

build:
	$(GO) build ./...
	cd bench && $(GO) build ./...

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

fmt:
	gofmt -w $$(git ls-files '*.go')

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(LINT) run --allow-parallel-runners ./...

# Side by side with the peers, then Skein alone, then the table.
bench:
	bash bench/run

# One target at a time, as the go command wants it.
fuzz:
	@FUZZTIME=$(FUZZTIME) GO=$(GO) bash .ci/fuzz

# A process is killed again and again while it writes, and nothing it
# acknowledged may be missing afterwards. A thread is written to in all ways while
# clients view it over links that break, and each holds what the store says.
soak:
	SKEIN_KILLS=$(KILLS) $(GO) test -count=1 -timeout 60m -run 'Crash|Kill' ./...
	SKEIN_SOAK=$(STEPS) $(GO) test -count=1 -timeout 6h -run 'EveryClientHolds' ./internal/window

# Real exchanges in place of those written after documentation, for each
# provider whose key is in the environment.
record:
	SKEIN_RECORD=1 $(GO) test -count=1 -v -run 'Recordings' ./model/modeltest

# What docs/chat.script types, at a terminal of its own: a cast for asciinema, and
# a film of it for the README.
recording:
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	$(GO) build -o "$$home/skein" ./cmd/skein && \
	$(GO) build -o "$$home/record" ./cmd/skein/record && \
	HOME="$$home" XDG_DATA_HOME= XDG_CONFIG_HOME= SKEIN_MODEL=echo "$$home/record" -o docs/chat \
		-title "skein chat: a talk, an answer stopped, the outline opened, a search" \
		docs/chat.script "$$home/skein" chat launch --me ana --pace 14 --tail 40,80

# What the page looks like: pictures that its tests keep, of real threads in a real
# browser.
pictures:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	SKEIN_SHOTS="$$dir" $(GO) test -count=1 -run 'Prompt|Outline|Picture|Wire|Demonstration' ./web/webtest && \
	cp "$$dir/prompt-light.png" docs/page.png && \
	cp "$$dir/outline-dark.png" docs/page-outline.png && \
	cp "$$dir/wire-light.png" docs/page-wire.png

ci:
	bash .ci/run
