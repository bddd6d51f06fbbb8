# The whole life of a clone without an installed ROS: doc/install.md.
PYTHON ?= python3
# A PYTHON named by the user is taken as it is; otherwise setup may find a better one.
SETUP = $(PYTHON) tools/setup_workspace.py --ros $(ROS) \
  $(if $(filter-out file default,$(origin PYTHON)),--this-python) \
  $(if $(filter-out undefined,$(origin EXTRAS)),--extras '$(EXTRAS)')
# Kilted is at the root of the clone, another distribution in a folder of its own.
ROS = kilted
ENTER = . ./$(if $(filter kilted,$(ROS)),,.$(ROS)/)build/env.sh &&

.PHONY: help setup demo test check lint format clean

help:
	@echo 'make setup   .venv, pinned wheels, colcon build (again: only what changed)'
	@echo '             with EXTRAS=ray: the libraries of that extra, too; they stay until EXTRAS='
	@echo 'make demo    evolves a gait and walks it'
	@echo 'make test    every test; ARGS="-k name" passes arguments to pytest'
	@echo 'make check   imports every module, collects every test, five walks'
	@echo '             with ROS=jazzy: in .jazzy, with the wheels of Jazzy; only the tests of ROS'
	@echo 'make lint    ruff and strict mypy'
	@echo 'make format  lets ruff format, and renews tables and pages that are made from code'
	@echo 'make clean   removes all that setup made'

setup:
	@$(SETUP)

demo: setup
	@$(ENTER) python tools/demo.py $(ARGS)

test: setup
	@$(ENTER) python tools/run_tests.py $(if $(filter kilted,$(ROS)),,--ros-part) $(ARGS)

check: setup
	@$(ENTER) python tools/check_libraries.py

lint: setup
	@$(ENTER) ruff check . && ruff format --check . && mypy

format: setup
	@$(ENTER) ruff check --fix . && ruff format . && python tools/write_tables.py

clean:
	rm -rf .jazzy .venv build install log .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find src launch urdf test tools -name __pycache__ -type d -prune -exec rm -rf {} +
