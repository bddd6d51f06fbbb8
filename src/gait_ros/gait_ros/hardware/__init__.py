"""Motors of joints: conversion, calibration, limits, and description for ros2_control."""
