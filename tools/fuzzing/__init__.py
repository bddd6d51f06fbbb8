# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of the fuzzer, made from the project's own schemas, and their verdicts."""
