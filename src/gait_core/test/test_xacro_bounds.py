# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Xacro files within limits of time, memory and size; faults with their own file and line."""

import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.urdf import xml_source
from gait_core.robot.urdf.reader import read_urdf

pytest.importorskip('xacro')
HEAD = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="x">\n'


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """Return the message that refuses a xacro file, one line."""
    monkeypatch.setattr(xml_source, 'PROCESSOR_TIME', 1)

    def refuse(text, **included):
        for name, content in included.items():
            (tmp_path / f'{name}.xacro').write_text(HEAD + content + '\n</robot>\n')
        file = tmp_path / 'main.urdf.xacro'
        file.write_text(HEAD + text + '\n</robot>\n')
        with pytest.raises(ConfigurationError) as caught:
            read_urdf(file)
        assert '\n' not in str(caught.value) and len(str(caught.value)) < 300
        return str(caught.value)

    return refuse


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('<link name="${10**10**9}"/>', 'takes more than 1 s of processor time'),
        ('<link name="${\'a\' * 10**10}"/>', 'takes more than 1024 MiB of memory'),
        ('<link name="${\'a\' * 10**7}"/>', 'expands to more than 8 MiB'),
        ('<xacro:include filename="main.urdf.xacro"/>', 'main.urdf.xacro'),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 'recursion'),
    ],
)
def test_an_expansion_without_end_is_ended(refusal, text, message):
    found = refusal(text)
    assert message in found and 'main.urdf.xacro' in found


LEG = '<!-- nme -->\n<xacro:macro name="leg" params="">\n<link name="a"/>\n{}\n</xacro:macro>'


def test_a_fault_in_a_macro_has_the_file_and_the_line_of_its_body(refusal):
    found = refusal(
        '<!-- nme -->\n<xacro:include filename="parts.xacro"/>\n<xacro:leg/>',
        parts=LEG.format('<link name="${nme}"/>'),
    )
    assert "parts.xacro:5: xacro: name 'nme' is not defined" in found
    assert "in macro 'leg', called from" in found and 'main.urdf.xacro' in found


def test_a_fault_in_a_property_has_the_file_and_the_line_of_the_property(refusal):
    found = refusal(
        '<xacro:include filename="parts.xacro"/>\n<link name="${mass}"/>',
        parts='\n<xacro:property name="mass" value="${2 * lenght}"/>',
    )
    assert "parts.xacro:3: xacro: name 'lenght' is not defined" in found
