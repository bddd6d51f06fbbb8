# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures are files of the stated kind and size; what they cannot show is refused."""

from __future__ import annotations

from dataclasses import replace
import os

import numpy as np
from PIL import Image
import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    register_temporarily,
    spec_for_test,
)
from gait_core.trial.loop import run_loop
from gait_tools.pictures.trial import (
    MAX_GIF_SIZE,
    draw_gait_diagram,
    draw_zmp,
    write_gif,
)


@pytest.fixture(scope='module')
def rollout():
    with register_temporarily('controllers', wave=WaveController):
        return run_loop(spec_for_test(duration=2.0), KinematicEngine()).rollout()


def frames(count, size=(60, 80), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (*size, 3)).astype(np.uint8) for _ in range(count)]


def test_a_gif_holds_every_frame_at_its_rate(tmp_path):
    path = tmp_path / 'walk.gif'
    # Frames that differ: GIF writers merge those that do not.
    write_gif(path, frames(7), 12.5)
    with Image.open(path) as picture:
        assert picture.n_frames == 7
        assert picture.size == (80, 60)
        assert picture.info['duration'] == 80
        assert picture.info['loop'] == 0


def test_a_large_gif_shrinks_below_the_limit(tmp_path):
    # Noise does not compress: 80 frames of 240 x 320 are more than 2 MB with any palette.
    path = tmp_path / 'noise.gif'
    write_gif(path, frames(80, (240, 320)), 12.5)
    assert path.stat().st_size <= MAX_GIF_SIZE
    with Image.open(path) as picture:
        assert picture.n_frames == 80
        assert picture.width < 320


def test_a_full_disk_leaves_the_last_video_whole(tmp_path, monkeypatch):
    path = tmp_path / 'walk.gif'
    write_gif(path, frames(3), 12.5)
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(ConfigurationError, match='No space'):
        write_gif(path, frames(4), 12.5)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ['walk.gif']


def test_nothing_to_show_is_refused(tmp_path, rollout):
    with pytest.raises(ConfigurationError, match='no frames'):
        write_gif(tmp_path / 'walk.gif', [], 12.5)
    with pytest.raises(ConfigurationError, match='no legs'):
        draw_gait_diagram(
            tmp_path / 'gait.png', replace(rollout, robot=replace(rollout.robot, legs=()))
        )


def test_plots_are_pictures_with_ink(tmp_path, rollout):
    for name, draw in (('zmp.png', draw_zmp), ('gait.png', draw_gait_diagram)):
        draw(tmp_path / name, rollout)
        assert _ink(tmp_path / name) > 200


def _ink(path):
    """Return the range of grey of a picture that is large enough."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert('L'))
    assert min(pixels.shape) > 100
    return int(np.ptp(pixels))


def test_a_folder_that_is_missing_is_named(tmp_path, rollout):
    for draw in (draw_zmp, draw_gait_diagram):
        with pytest.raises(ConfigurationError, match='No such file'):
            draw(tmp_path / 'none' / 'x.png', rollout)
