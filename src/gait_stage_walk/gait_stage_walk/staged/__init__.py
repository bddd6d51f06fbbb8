"""The staged walk: timetable, pulses, pace, controller."""
