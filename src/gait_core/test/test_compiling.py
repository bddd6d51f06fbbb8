"""The word on kernels that are being compiled."""

from numba import njit

from gait_core.compiling import announce_compiling


def test_the_first_kernel_beyond_the_patience_is_announced_once():
    at_once, later = [], []
    announce_compiling(at_once.append, patience=0.0)
    announce_compiling(later.append, patience=3600.0)

    @njit
    def twice(value):
        return 2 * value

    assert at_once == []
    assert twice(2) == 4
    (line,) = at_once
    assert 'compiling' in line and '\n' not in line
    assert twice(0.5) == 1.0
    assert (len(at_once), later) == (1, [])


def test_what_is_compiled_already_is_not_announced():
    @njit
    def half(value):
        return value / 2

    half(1.0)
    said = []
    announce_compiling(said.append, patience=0.0)
    assert half(3.0) == 1.5
    assert said == []
