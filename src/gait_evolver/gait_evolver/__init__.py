# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evolution of gaits: experiments, optimisers, evaluators and run directories."""

__version__ = '0.1.0'
