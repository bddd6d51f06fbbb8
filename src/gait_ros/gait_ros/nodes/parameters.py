# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
ROS parameters declared from dataclasses.

Default, range, unit and text are those of ``gait_core.parameters.declaration``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import partial
import math
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
)
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from gait_core.errors import ConfigurationError, describe_error, unknown_name_error
from gait_core.parameters.declaration import (
    UNSET_LEG,
    ParameterInfo,
    Parameters,
    declared_parameters,
    flatten_legs,
    leg_parameters,
    make_parameters,
    parameter_values,
)
from gait_ros.nodes.faults import CAUGHT_EXCEPTIONS

ParametersT = TypeVar('ParametersT', bound=Parameters)

_PARAMETER_TYPES = {
    'float': Parameter.Type.DOUBLE,
    'int': Parameter.Type.INTEGER,
    'bool': Parameter.Type.BOOL,
    'str': Parameter.Type.STRING,
    'floats': Parameter.Type.DOUBLE_ARRAY,
}
_TYPE_NUMBERS = {kind.value for kind in Parameter.Type}
_ARRAY_TYPES = tuple(kind for kind in Parameter.Type if kind.name.endswith('_ARRAY'))
# Overrides that no dataclass declares: rclpy does, or they describe the file.
_FOREIGN_NAMES = ('use_sim_time', 'start_type_description_service')
_FOREIGN_PREFIXES = ('qos_overrides.', 'provenance.')


def parameter_descriptor(info: ParameterInfo) -> ParameterDescriptor:
    """Return the descriptor of a parameter, which ``ros2 param describe`` prints."""
    described = ParameterDescriptor(
        type=_PARAMETER_TYPES[info.kind].value,
        description=info.doc if info.unit in ('', '-') else f'{info.doc} [{info.unit}]',
        additional_constraints=_constraints(info),
        read_only=info.read_only,
    )
    if info.low is None or info.high is None:
        return described
    if info.kind == 'float' and math.isfinite(info.low) and math.isfinite(info.high):
        low = UNSET_LEG if info.leg_quantity else info.low
        described.floating_point_range = [
            FloatingPointRange(from_value=float(low), to_value=float(info.high))
        ]
    if info.kind == 'int':
        described.integer_range = [
            IntegerRange(from_value=int(info.low), to_value=int(info.high), step=1)
        ]
    return described


def _constraints(info: ParameterInfo) -> str:
    if info.choices:
        return 'one of: ' + ', '.join(info.choices)
    if info.leg_quantity:
        return f'{UNSET_LEG:g}, or from {info.low:g} to {info.high:g}'
    if info.kind == 'floats':
        return f'each from {info.low:g} to {info.high:g} {info.unit}'
    return ''


def parameter_overrides(node: Node) -> Mapping[str, Any]:
    """
    Return the values that parameter files, command line and constructor give to a node.

    This reads a private attribute: ``declare_parameter`` of rclpy refuses an integer for a double
    before it could be converted.
    """
    return {name: given.value for name, given in node._parameter_overrides.items()}


_kinds_by_node: WeakKeyDictionary[Node, dict[str, str]] = WeakKeyDictionary()


def _float_kinds(node: Node) -> dict[str, str]:
    """
    Return the kinds of parameters by name, by which integers are converted to floats.

    The conversion is a callback that rclpy calls before it checks types. A node has one of them:
    rclpy concatenates the results of several callbacks instead of chaining them.
    """
    if node not in _kinds_by_node:
        kinds: dict[str, str] = {}
        _kinds_by_node[node] = kinds
        _refuse_invalid_requests(node)
        # Timers and ages are of the clock that the node began with.
        node.set_descriptor(
            'use_sim_time',
            ParameterDescriptor(type=ParameterType.PARAMETER_BOOL, read_only=True),
        )
        node.add_pre_set_parameters_callback(
            lambda given: [_convert_to_float(parameter, kinds) for parameter in given]
        )
    return _kinds_by_node[node]


def _refuse_invalid_requests(node: Node) -> None:
    """
    Let the parameter services of a node refuse what rclpy does not name, or what ends it.

    rclpy raises ValueError for an unknown type, declares a parameter without a name, and answers
    a request for an undeclared one without its name.
    """

    def result_of(parameter: Any) -> SetParametersResult:
        """Return the result of a parameter; its reason says in one line what is invalid."""
        reason = ''
        if not node.has_parameter(parameter.name):
            valid = sorted(node.get_parameters_by_prefix(''))
            reason = str(unknown_name_error('parameter', parameter.name, valid))
        elif parameter.value.type not in _TYPE_NUMBERS:
            reason = (
                f"parameter '{parameter.name}' has type {parameter.value.type}, expected 1 to "
                f'{max(_TYPE_NUMBERS)}'
            )
        return SetParametersResult(successful=not reason, reason=reason)

    def answer(handle: Any, request: Any, response: Any) -> Any:
        """Answer a request; what is invalid reaches no callback of rclpy."""
        results = [result_of(parameter) for parameter in request.parameters]
        refused = [result for result in results if not result.successful]
        if not refused:
            return handle(request, response)
        if isinstance(response, SetParametersAtomically.Response):
            response.result = refused[0]
            return response
        pairs = zip(request.parameters, results, strict=True)
        valid = [parameter for parameter, result in pairs if result.successful]
        request.parameters = valid
        handled = iter(handle(request, response).results)
        response.results = [next(handled) if each.successful else each for each in results]
        return response

    for service in node.services:
        if service.srv_type in (SetParameters, SetParametersAtomically):
            service.callback = partial(answer, service.callback)


def _convert_to_float(parameter: Parameter, kinds: Mapping[str, str]) -> Parameter:
    """Return the parameter with floats for integers; an empty list is an array of floats."""
    kind = kinds.get(parameter.name, '')
    if kind == 'float' and parameter.type_ == Parameter.Type.INTEGER:
        return Parameter(parameter.name, Parameter.Type.DOUBLE, float(parameter.value))
    # An empty list comes as one of bytes from rclpy, and as one of booleans from ros2 param.
    is_empty = parameter.type_ in _ARRAY_TYPES and len(parameter.value) == 0
    if kind == 'floats' and (is_empty or parameter.type_ == Parameter.Type.INTEGER_ARRAY):
        values = [float(item) for item in parameter.value]
        return Parameter(parameter.name, Parameter.Type.DOUBLE_ARRAY, values)
    return parameter


def declare_array(
    node: Node,
    name: str,
    kind: Parameter.Type,
    items: Iterable[Any],
    descriptor: ParameterDescriptor,
) -> None:
    """
    Declare an array with a value, which may be empty.

    rclpy infers the type from the value and reads an empty list as one of bytes. Declared by its
    type alone, an array would have no value, and the services of the node would return no
    parameter at all to a request that names it among others.
    """
    writable = copy(descriptor)
    writable.read_only = False
    node.declare_parameter(name, kind, writable, ignore_override=True)
    node.set_parameters_atomically([Parameter(name, kind, list(items))])
    node.set_descriptor(name, descriptor)


class DeclaredParameters(Generic[ParametersT]):
    """
    Parameters of a dataclass, declared on a node.

    A change of parameters builds a new instance. If that raises a ConfigurationError, the change
    is rejected with its message, and all values stay.

    Parameters
    ----------
    node : Node
    cls : type of Parameters
        Dataclass with the declarations.
    prefix : str
        First part of the ROS names, e.g. ``gait``; empty: the names of the dataclass.
    defaults : mapping
        Values that replace defaults of the dataclass, e.g. those of a preset. A parameter of one
        leg, ``<quantity>.<leg>``, is declared only if this mapping has its name. The value
        ``UNSET_LEG`` leaves the leg without a number of its own.
    check : callable or None
        Called with the instance that a change would make; an exception rejects the change.
    on_change : callable or None
        Called with the new instance after every accepted change. If it raises an exception, the
        old values are restored, it is called with them, and the log has the reason.

    Attributes
    ----------
    value : Parameters
        Present instance of the dataclass.

    Raises
    ------
    ConfigurationError
        If an override has the wrong type or is out of range; the message has the ROS name.

    """

    def __init__(
        self,
        node: Node,
        cls: type[ParametersT],
        *,
        prefix: str = '',
        defaults: Mapping[str, Any] | None = None,
        check: Callable[[ParametersT], None] | None = None,
        on_change: Callable[[ParametersT], None] | None = None,
    ) -> None:
        self._node = node
        self._cls = cls
        self._prefix = f'{prefix}.' if prefix else ''
        values = dict(defaults or {})
        self._infos = {self._prefix + info.name: info for info in _all_infos(cls, values)}
        self._check = check
        self._on_change = on_change
        given = parameter_overrides(node)
        for name, info in self._infos.items():
            if name in given:
                values[info.name] = self._coerce(name, given[name])
        self.value: ParametersT = self._build(values)
        present = self._values_of(self.value)
        for name, info in self._infos.items():
            self._declare(name, info, present[info.name])
        _float_kinds(node).update({name: info.kind for name, info in self._infos.items()})
        node.add_on_set_parameters_callback(self._check_change)
        node.add_post_set_parameters_callback(self._accept_change)

    @property
    def names(self) -> tuple[str, ...]:
        """ROS names, in the order of declaration."""
        return tuple(self._infos)

    def undeclare(self) -> None:
        """Undeclare the parameters, none of which may be read-only."""
        self._node.remove_on_set_parameters_callback(self._check_change)
        self._node.remove_post_set_parameters_callback(self._accept_change)
        for name in self._infos:
            self._node.undeclare_parameter(name)
            _float_kinds(self._node).pop(name, None)

    def set(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """
        Set parameters by their names in the dataclass; all or, on an error, none.

        Returns
        -------
        tuple of str
            ROS names of the parameters whose values changed.

        Raises
        ------
        ConfigurationError
            If a name is unknown, or a value is refused.

        """
        names = [info.name for info in self._infos.values()]
        given = flatten_legs(values)
        for name in given:
            if name not in names:
                raise unknown_name_error('parameter', name, names)
        before = self._values_of(self.value)
        after = self._values_of(self._build({**before, **given}))
        changed = {name: value for name, value in after.items() if value != before[name]}
        if changed:
            result = self._node.set_parameters_atomically(
                [self._parameter(self._prefix + name, value) for name, value in changed.items()]
            )
            if not result.successful:
                raise ConfigurationError(result.reason)
            if self._values_of(self.value) == before:
                raise ConfigurationError('the parameters were restored: the log has the reason')
        return tuple(self._prefix + name for name in changed)

    def replace(self, params: ParametersT) -> tuple[str, ...]:
        """Set all parameters to those of an instance; returns and raises as ``set``."""
        # A leg that the node has no parameter for is an unknown name.
        return self.set({**self._values_of(params), **parameter_values(params)})

    def _values_of(self, params: ParametersT) -> dict[str, Any]:
        """Return the value of every declared parameter by its name in the dataclass."""
        known = parameter_values(params)
        return {info.name: known.get(info.name, info.default) for info in self._infos.values()}

    def _parameter(self, name: str, value: Any) -> Parameter:
        info = self._infos[name]
        return Parameter(
            name, _PARAMETER_TYPES[info.kind], list(value) if info.kind == 'floats' else value
        )

    def _declare(self, name: str, info: ParameterInfo, value: Any) -> None:
        descriptor = parameter_descriptor(info)
        if info.kind == 'floats':
            declare_array(self._node, name, _PARAMETER_TYPES[info.kind], value, descriptor)
        else:
            self._node.declare_parameter(name, value, descriptor, ignore_override=True)

    def _coerce(self, name: str, value: Any) -> Any:
        """Return a value of the declared type; the error names the parameter as ROS does."""
        info = self._infos[name]
        if info.leg_quantity and value == UNSET_LEG:
            return UNSET_LEG
        if info.kind == 'floats':
            # A parameter file with an empty list gives a parameter without a value.
            if value is None:
                value = ()
            elif not isinstance(value, str) and hasattr(value, 'tolist'):
                value = value.tolist()
        try:
            return info.coerce(value)
        except ConfigurationError as error:
            raise ConfigurationError(
                str(error).replace(f"'{info.name}'", f"'{name}'", 1)
            ) from None

    def _build(self, values: Mapping[str, Any]) -> ParametersT:
        by_leg = leg_parameters(self._cls)
        return make_parameters(
            self._cls,
            {
                name: value
                for name, value in values.items()
                if not (value == UNSET_LEG and name.partition('.')[0] in by_leg and '.' in name)
            },
        )

    def _changed_value(self, parameters: Iterable[Parameter]) -> ParametersT | None:
        """Return the instance after a change; None if the change has none of its parameters."""
        values = {
            self._infos[given.name].name: self._coerce(given.name, given.value)
            for given in parameters
            if given.name in self._infos
        }
        return self._build({**self._values_of(self.value), **values}) if values else None

    def _check_change(self, parameters: list[Parameter]) -> SetParametersResult:
        """Accept or reject a change before ROS makes it."""
        try:
            changed = self._changed_value(parameters)
            if changed is not None and changed != self.value and self._check is not None:
                self._check(changed)
        except CAUGHT_EXCEPTIONS as error:
            return SetParametersResult(successful=False, reason=describe_error(error))
        return SetParametersResult(successful=True)

    def _accept_change(self, parameters: list[Parameter]) -> None:
        """Follow a change that ROS has made, or restore the old values if that fails."""
        changed = self._changed_value(parameters)
        if changed is None or changed == self.value:
            return
        old, self.value = self.value, changed
        try:
            if self._on_change is not None:
                self._on_change(changed)
        except CAUGHT_EXCEPTIONS as error:
            self._node.get_logger().error(
                f'the parameters are restored to their last values: {describe_error(error)}'
            )
            self._restore(old)

    def _restore(self, old: ParametersT) -> None:
        """Set all parameters to the values of a previous instance."""
        before, now = self._values_of(old), self._values_of(self.value)
        self._node.set_parameters_atomically(
            [
                self._parameter(name, before[info.name])
                for name, info in self._infos.items()
                if not info.read_only and before[info.name] != now[info.name]
            ]
        )


def _all_infos(cls: type[Parameters], names: Iterable[str]) -> list[ParameterInfo]:
    """Return the declarations of a dataclass, with those of the legs that some names have."""
    infos = [info for info in declared_parameters(cls) if info.kind != 'legs']
    by_leg = leg_parameters(cls)
    for name in names:
        quantity, dot, leg = name.partition('.')
        if dot and quantity in by_leg:
            infos.append(by_leg[quantity].of_leg(leg))
    return infos


def refuse_unknown_overrides(node: Node, foreign_prefixes: tuple[str, ...] = ()) -> None:
    """
    Refuse overrides of parameters that the node does not declare; call after all declarations.

    Parameters
    ----------
    node : Node
    foreign_prefixes : tuple of str
        Prefixes of parameters of other nodes, which a file for several nodes may contain.

    Raises
    ------
    ConfigurationError
        If there is such an override, which ROS would ignore silently. The message names the first
        one and the nearest declared name.

    """
    declared = sorted(node.get_parameters_by_prefix(''))
    for name in sorted(parameter_overrides(node)):
        is_allowed = name in _FOREIGN_NAMES or name.startswith(
            (*_FOREIGN_PREFIXES, *foreign_prefixes)
        )
        if not is_allowed and not node.has_parameter(name):
            valid = [item for item in declared if not item.startswith('qos_overrides.')]
            raise unknown_name_error('parameter', name, valid)


def to_parameter_values(values: Mapping[str, Any]) -> list[Any]:
    """
    Convert named values to ``rcl_interfaces/Parameter`` messages, with their types.

    A list of integers and floats becomes a list of doubles.
    """
    return [
        Parameter(name, *_type_and_value(name, value)).to_parameter_msg()
        for name, value in values.items()
    ]


def from_parameter_values(messages: Iterable[Any]) -> dict[str, Any]:
    """Convert ``rcl_interfaces/Parameter`` messages to named values; lists become tuples."""
    values = {}
    for message in messages:
        if message.name in values:
            raise ConfigurationError(f"parameter '{message.name}' is given twice")
        if message.value.type == ParameterType.PARAMETER_NOT_SET:
            raise ConfigurationError(f"parameter '{message.name}' has no value")
        value = Parameter.from_parameter_msg(message).value
        is_list = not isinstance(value, (bool, int, float, str))
        values[message.name] = tuple(value) if is_list else value
    return values


def _type_and_value(name: str, value: Any) -> tuple[Parameter.Type, Any]:
    """Return the ROS type of a value, and the value in that type."""
    if hasattr(value, 'tolist'):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        items = list(value)
        if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items):
            if items and all(isinstance(item, int) for item in items):
                return Parameter.Type.INTEGER_ARRAY, items
            return Parameter.Type.DOUBLE_ARRAY, [float(item) for item in items]
        value = items
    try:
        return Parameter.Type.from_parameter_value(value), value
    except TypeError:
        raise ConfigurationError(
            f"parameter '{name}' is {value!r}, expected a number, text, true or false, or a list"
        ) from None
