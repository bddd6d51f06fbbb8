# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tree of links and joints: references, order of the links and mimic joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gait_core.errors import ConfigurationError, excerpt, name_hint
from gait_core.robot.model import MOVING_KINDS, Joint, Link, Mimic

MAX_LINKS = 500
"""Largest number of links."""


@dataclass(frozen=True, kw_only=True)
class LinkTree:
    """Links and joints of a description; every parent before its children."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


def build_tree(name: str, links: Sequence[Link], joints: Sequence[Joint]) -> LinkTree:
    """
    Return the tree of links and joints.

    A floating joint below a massless root link is removed with that link. The leader of a chain
    of mimic joints becomes the leader of each of them; a fixed joint mimics nothing.

    Raises
    ------
    ConfigurationError
        For repeated names, unknown links or joints, links that form no tree, joints that mimic
        themselves or a joint that does not move.

    """
    links, joints = _remove_floating_root(tuple(links), tuple(joints))
    _check_references(links, joints)
    by_name = {joint.name: joint for joint in joints}
    return LinkTree(
        name=name,
        links=_sort_links(links, joints),
        joints=tuple(replace(joint, mimic=_leading_mimic(joint, by_name)) for joint in joints),
    )


def _remove_floating_root(
    links: tuple[Link, ...],
    joints: tuple[Joint, ...],
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Return links and joints without a floating joint and the massless root above it."""
    floating = [joint for joint in joints if joint.kind == 'floating']
    by_name = {link.name: link for link in links}
    for joint in floating:
        world = by_name.get(joint.parent)
        is_only_joint = sum(other.parent == joint.parent for other in joints) == 1
        if world is None or world.mass > 0.0 or world.collisions or not is_only_joint:
            raise ConfigurationError(
                f"joint '{joint.name}' is floating; only a floating joint from a massless "
                'root link to the base can be read'
            )
        links = tuple(link for link in links if link.name != joint.parent)
    return links, tuple(joint for joint in joints if joint.kind != 'floating')


def _sort_links(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[Link, ...]:
    """Return the links in tree order: the root first, every parent before its children."""
    children: dict[str, list[str]] = {link.name: [] for link in links}
    for joint in joints:
        children[joint.parent].append(joint.child)
    with_parent = {joint.child for joint in joints}
    tops = [link.name for link in links if link.name not in with_parent]
    if len(tops) != 1:
        roots = ', '.join(f"'{excerpt(name)}'" for name in tops[:5]) or 'none'
        raise ConfigurationError(
            f'{len(tops)} links have no parent joint ({roots}{", ..." * (len(tops) > 5)}), '
            'expected 1'
        )
    # Depth-first from the root; a link that is not met is in a loop.
    order: dict[str, None] = {}
    stack = tops
    while stack:
        name = stack.pop()
        order[name] = None
        stack.extend(reversed(children[name]))
    in_loop = next((link.name for link in links if link.name not in order), None)
    if in_loop is not None:
        raise ConfigurationError(f"link '{in_loop}' is part of a loop of joints")
    by_name = {link.name: link for link in links}
    return tuple(by_name[name] for name in order)


def _check_references(links: Sequence[Link], joints: Sequence[Joint]) -> None:
    """Raise ConfigurationError for repeated names, unknown links or joints, and two parents."""
    if not 0 < len(links) <= MAX_LINKS:
        count = f'{len(links)} links, expected at most {MAX_LINKS}' if links else 'no link'
        raise ConfigurationError(f'it describes {count}')
    names = _unique_names('link', links)
    joint_names = _unique_names('joint', joints)
    parents: dict[str, str] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in names:
                raise ConfigurationError(
                    f"joint '{joint.name}' names the unknown link '{excerpt(end)}': "
                    f'{name_hint(end, names)}'
                )
        other = parents.setdefault(joint.child, joint.name)
        if other != joint.name:
            raise ConfigurationError(
                f"link '{joint.child}' is the child of two joints, '{other}' and '{joint.name}'"
            )
        if joint.mimic is not None and joint.mimic.joint not in joint_names:
            raise ConfigurationError(
                f"joint '{joint.name}' mimics the unknown joint '{excerpt(joint.mimic.joint)}': "
                f'{name_hint(joint.mimic.joint, joint_names)}'
            )


def _unique_names(kind: str, parts: Iterable[Link | Joint]) -> set[str]:
    """Return the names of links or joints; ConfigurationError for a repeated one."""
    names: set[str] = set()
    for part in parts:
        if part.name in names:
            raise ConfigurationError(f"{kind} '{part.name}' is described twice")
        names.add(part.name)
    return names


def _leading_mimic(joint: Joint, joints: Mapping[str, Joint]) -> Mimic | None:
    """Return the coupling of a joint to the joint that leads its chain; None without one."""
    if joint.kind not in MOVING_KINDS or joint.mimic is None:
        return None
    followed, mimic = [joint.name], joint.mimic
    while (leader := joints[mimic.joint]).kind in MOVING_KINDS and leader.name not in followed:
        if leader.mimic is None:
            return mimic
        # q = a q1 + b and q1 = c q2 + d give q = a c q2 + (a d + b).
        followed.append(leader.name)
        mimic = Mimic(
            joint=leader.mimic.joint,
            multiplier=mimic.multiplier * leader.mimic.multiplier,
            offset=mimic.multiplier * leader.mimic.offset + mimic.offset,
        )
    if leader.name in followed:
        trail = ' -> '.join([*followed[:5], leader.name])
        raise ConfigurationError(f"joint '{joint.name}' mimics itself: {trail}")
    raise ConfigurationError(
        f"joint '{joint.name}' mimics '{leader.name}', which is {leader.kind}; expected a joint "
        f'that is {" or ".join(MOVING_KINDS)}'
    )
