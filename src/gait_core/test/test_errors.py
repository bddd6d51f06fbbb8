# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages of errors: one line of bounded length that a terminal can print."""

import pytest

from gait_core.errors import ConfigurationError, describe_error, excerpt, unknown_name_error

PATH = '/opt/somebody/ros2_ws/install/my_robot_description/share/robots/my_robot/robot.yaml'


@pytest.mark.parametrize(
    'message',
    [
        f'{PATH}, line 3, column 5: mass is {"9" * 5000}',
        f"{PATH}, line 3, column 5: '{'a b ' * 5000}' is not a number",
        f'{PATH}, line 3, column 5: ' + ', '.join(map(str, range(5000))),
    ],
)
def test_a_message_is_one_short_line_that_keeps_its_path(message):
    text = str(ConfigurationError(message))
    assert text.startswith(f'{PATH}, line 3, column 5: ') and 170 < len(text) <= 280
    assert describe_error(ConfigurationError(message)) == text


def test_a_short_message_is_kept_as_it_is():
    assert str(ConfigurationError(f'{PATH}: {100 * "a"}')) == f'{PATH}: {100 * "a"}'


def test_a_message_can_be_printed_on_any_terminal():
    text = str(ConfigurationError('no file a\n\x1b[31m\udc80é'))
    assert text == r'no file a \x1b[31m\udc80é' and text.encode()


def test_a_value_is_quoted_by_its_ends_and_a_path_in_full():
    assert excerpt(f'b{1000 * "a"}c') == f'b{51 * "a"}...{24 * "a"}c (1002 characters)'
    assert excerpt(PATH) == PATH


def test_a_name_of_many_is_answered_in_one_line():
    names = [f'{number}_{60 * "a"}' for number in range(100)]
    text = str(unknown_name_error('joint', f'7_{59 * "a"}', names))
    assert "did you mean '7_" in text and text.endswith(', ...') and len(text) <= 280
