# Martlet. `make demo` shows it, `make test` proves it; the rest is below.
#   make           debug build            make install PREFIX=/usr/local [DESTDIR=…]
#   make release   what gets installed    make bench [ROWS="put10k idle"]
#   make lint      format and imports     make docs   writes man pages, completions and the example settings anew
#   make quick [MODULE="TransferQueue"]   the suites of what changed, or of MODULE, and of what imports it
#   make test SANITIZE=thread|address     the unit suites under a sanitizer, built apart
#   make simulate SEEDS=1000              the engine in a world that a seed decides; SEED=7 tells the story of one

PREFIX ?= /usr/local
DESTDIR ?=
ROWS ?=
SANITIZE ?=
MODULE ?=
bindir = $(PREFIX)/bin
unitdir = $(PREFIX)/lib/systemd/user

# `swift` is looked for when a recipe needs it, so that `make clean` works without one.
find_swift = swift="$$(.ci/find-swift)" || exit 1
programs = martlet martletd martlet-receive
release_dir = .build/release

.DEFAULT_GOAL := debug
.PHONY: debug release test quick demo bench simulate lint docs install uninstall clean deps test-deps bench-deps

deps:
	@.ci/deps build

test-deps:
	@.ci/deps test

bench-deps:
	@.ci/deps bench

debug: deps
	@$(find_swift); "$$swift" build

# All three programs, with Swift's own libraries inside them. Of several --product words SwiftPM takes the last alone. It plans anew each
# time, which takes most of a minute for three on a busy machine; so where no source is newer than the last build it is not asked. lld comes
# with Swift; the system's linker warns in each build of a mktemp inside Foundation that nothing of ours calls.
release_stamp = .build/release.stamp
release: deps
	@[ -z "$$(find Sources Package.swift Makefile -newer $(release_stamp) -print -quit 2>&1)" ] && \
	  [ -x $(release_dir)/martlet ] && [ -x $(release_dir)/martletd ] && [ -x $(release_dir)/martlet-receive ] || { \
	  $(find_swift); mkdir -p .build; touch .build/release.begun; for program in $(programs); do \
	  "$$swift" build -c release --static-swift-stdlib -Xswiftc -use-ld=lld --product "$$program" || exit 1; done; \
	  mv .build/release.begun $(release_stamp); }

# In portions: the formatter holds every file that it is given open, and 1,024 are the most in many shells.
lint:
	@$(find_swift); refused=; \
	find Package.swift Sources Tests -name '*.swift' -print0 | xargs -0 -n 400 "$$swift" format lint --strict --parallel || refused=" format"; \
	for gate in imports protocols comments messages quoting peer-text proc documents install; do \
	  .ci/check-$$gate || refused="$$refused $$gate"; done; \
	[ -z "$$refused" ] || { echo "make lint: refused (above) by:$$refused" >&2; exit 1; }

# Everything that decides: set-up, format, arrows, linkage, then the suite (whose last lines are the result).
ifeq ($(SANITIZE),)
test: test-deps lint
	@$(find_swift); "$$swift" build --build-tests --quiet
	@$(find_swift); .ci/check-linkage "$$("$$swift" build --show-bin-path)"
	@$(find_swift); .ci/test-suites "$$swift"
else
test: test-deps
	@$(find_swift); "$$swift" build --build-tests --quiet $$(.ci/sanitizer $(SANITIZE))
	@$(find_swift); SANITIZE=$(SANITIZE) .ci/test-suites "$$swift"
endif

quick: test-deps lint
	@$(find_swift); suites="$$(.ci/changed-suites $(MODULE))" || exit 1; \
	  [ -n "$$suites" ] || { echo "make quick: no module with a suite was changed"; exit 0; }; \
	  echo "make quick:" $$suites; "$$swift" build --build-tests --quiet && .ci/test-suites "$$swift" $$suites

demo: release
	@Resources/demo/demo.sh $(release_dir)

bench: bench-deps release
	@Tests/Benchmarks/bench $(release_dir) $(ROWS)

# Optimised, as it may run for hours; its asserts stay.
simulate: deps
	@$(find_swift); "$$swift" build -c release --product simulate && \
	  if [ -n "$(SEED)" ]; then $(release_dir)/simulate $(SEED) 1 story; else \
	  Tests/Simulation/simulations $(release_dir)/simulate $(or $(SEEDS),1000); fi

# Man pages, completions and the example configuration come from the tables in the code; a test fails when they differ.
docs: deps
	@$(find_swift); "$$swift" build --product martlet && martlet="$$("$$swift" build --show-bin-path)/martlet" && \
	for path in $$("$$martlet" docs); do \
	  mkdir -p "Resources/$${path%/*}" && "$$martlet" docs "$$path" >.build/document && \
	  cp .build/document "Resources/$$path" || exit 1; done

# Where each generated file of Resources/ belongs: folder there, folder below PREFIX.
documents = man:share/man/man1 completions/bash:share/bash-completion/completions \
  completions/zsh:share/zsh/site-functions completions/fish:share/fish/vendor_completions.d

install: release
	install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(unitdir)"
	install -s -m 755 $(addprefix $(release_dir)/,$(programs)) "$(DESTDIR)$(bindir)/"
	for pair in $(documents); do \
	  install -d "$(DESTDIR)$(PREFIX)/$${pair#*:}" && \
	  install -m 644 Resources/$${pair%:*}/* "$(DESTDIR)$(PREFIX)/$${pair#*:}/" || exit 1; done
	sed 's|@BINDIR@|$(bindir)|' Resources/systemd/martletd.service >"$(DESTDIR)$(unitdir)/martletd.service"
	chmod 644 "$(DESTDIR)$(unitdir)/martletd.service"
	install -m 644 Resources/systemd/martletd.socket "$(DESTDIR)$(unitdir)/"

uninstall:
	rm -f $(foreach p,$(programs),"$(DESTDIR)$(bindir)/$(p)") "$(DESTDIR)$(unitdir)/martletd.service" "$(DESTDIR)$(unitdir)/martletd.socket"
	for pair in $(documents); do for file in Resources/$${pair%:*}/*; do \
	  rm -f "$(DESTDIR)$(PREFIX)/$${pair#*:}/$${file##*/}"; done; done

clean:
	rm -rf .build .demo .bench
