# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The staged walk: timetable, pulses, pace, controller."""
