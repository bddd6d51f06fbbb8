# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Common parts of all nodes: process, lifecycle, parameters, services, QoS and clock."""
