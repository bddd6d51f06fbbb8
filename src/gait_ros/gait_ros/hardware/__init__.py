# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motors of joints: conversion, calibration, limits, and description for ros2_control."""
