# The whole life of a clone without an installed ROS: doc/install.md.
PYTHON ?= python3
# A PYTHON named by the user is taken as it is; otherwise setup may find a better one.
SETUP = $(PYTHON) tools/setup_workspace.py $(if $(filter-out file default,$(origin PYTHON)),--this-python)
ENTER = . build/env.sh &&


.PHONY: help setup demo test lint format clean

help:
	@echo 'make setup   .venv, pinned wheels, colcon build (again: only what changed)'
	@echo 'make demo    evolves a gait and walks it'
	@echo 'make test    every test; ARGS="-k name" passes arguments to pytest'
	@echo 'make lint    ruff and strict mypy'
	@echo 'make format  lets ruff format, and renews tables and pages that are made from code'
	@echo 'make clean   removes all that setup made'

setup:
	@$(SETUP)

demo: setup
	@$(ENTER) python tools/demo.py $(ARGS)

test: setup
	@$(ENTER) python tools/run_tests.py $(ARGS)

lint: setup
	@$(ENTER) ruff check . && ruff format --check . && mypy

format: setup
	@$(ENTER) ruff check --fix . && ruff format . && python tools/write_tables.py

clean:
	rm -rf .venv build install log .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find src launch urdf test tools -name __pycache__ -type d -prune -exec rm -rf {} +
