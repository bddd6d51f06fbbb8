"""
ROS parameters from the dataclasses that declare them once.

Default, range, unit and text come from ``gait_core.parameters.declaration``; nothing is written
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
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
from rclpy.node import Node
from rclpy.parameter import Parameter

from gait_core.errors import ConfigurationError, describe_error, unknown_name_error
from gait_core.parameters.declaration import (
    ParameterInfo,
    Parameters,
    declared_parameters,
    make_parameters,
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
# Declared by rclpy itself, or meant for everybody who reads the file.
_FOREIGN_NAMES = ('use_sim_time', 'start_type_description_service')
_FOREIGN_PREFIXES = ('qos_overrides.', 'provenance.')


def parameter_descriptor(info: ParameterInfo) -> ParameterDescriptor:
    """Return what ``ros2 param describe`` shows of a parameter."""
    described = ParameterDescriptor(
        type=_PARAMETER_TYPES[info.kind].value,
        description=info.doc if info.unit in ('', '-') else f'{info.doc} [{info.unit}]',
        additional_constraints=_constraints(info),
        read_only=info.read_only,
    )
    if info.low is None or info.high is None:
        return described
    if info.kind == 'float' and math.isfinite(info.low) and math.isfinite(info.high):
        described.floating_point_range = [
            FloatingPointRange(from_value=float(info.low), to_value=float(info.high))
        ]
    if info.kind == 'int':
        described.integer_range = [
            IntegerRange(from_value=int(info.low), to_value=int(info.high), step=1)
        ]
    return described


def _constraints(info: ParameterInfo) -> str:
    if info.choices:
        return 'one of: ' + ', '.join(info.choices)
    if info.kind == 'floats':
        return f'each from {info.low:g} to {info.high:g} {info.unit}'
    return ''


def parameter_overrides(node: Node) -> Mapping[str, Any]:
    """
    Return the values given to a node by parameter files, command line and constructor.

    rclpy offers them only through ``declare_parameter``, which refuses an integer where a double
    is declared before anything could convert it.
    """
    return {name: given.value for name, given in node._parameter_overrides.items()}


_kinds_by_node: WeakKeyDictionary[Node, dict[str, str]] = WeakKeyDictionary()


def _float_kinds(node: Node) -> dict[str, str]:
    """
    Return the kinds by name whose whole numbers become floats before rclpy checks their type.

    One callback per node, for what several callbacks return is concatenated, not chained.
    """
    if node not in _kinds_by_node:
        kinds: dict[str, str] = {}
        _kinds_by_node[node] = kinds
        node.add_pre_set_parameters_callback(
            lambda given: [_integer_to_float(parameter, kinds) for parameter in given]
        )
    return _kinds_by_node[node]


def _integer_to_float(given: Parameter, kinds: Mapping[str, str]) -> Parameter:
    kind = kinds.get(given.name, '')
    if kind == 'float' and given.type_ == Parameter.Type.INTEGER:
        return Parameter(given.name, Parameter.Type.DOUBLE, float(given.value))
    if kind == 'floats' and given.type_ == Parameter.Type.INTEGER_ARRAY:
        values = [float(item) for item in given.value]
        return Parameter(given.name, Parameter.Type.DOUBLE_ARRAY, values)
    return given


class DeclaredParameters(Generic[ParametersT]):
    """
    The parameters of one dataclass, declared on a node; ``value`` is the present instance.

    A change builds a new instance; the ConfigurationError of a bad one is the reason of its
    rejection, and nothing has changed then.

    Parameters
    ----------
    node : Node
        On which they are declared.
    cls : type of Parameters
        What is declared.
    prefix : str
        Of their ROS names, e.g. ``gait``; empty for none.
    defaults : mapping
        Values that replace the dataclass's own defaults, e.g. of a preset.
    check : callable or None
        Called with the instance that a change would make; an exception refuses the change.
    on_change : callable or None
        Called with the new instance after every accepted change. Where it fails, it is called
        with the old instance again, whose values the parameters then have, and the log says so.

    Raises
    ------
    ConfigurationError
        For an override of the wrong type or out of range; the message has the ROS name.

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
        self._infos = {self._prefix + info.name: info for info in declared_parameters(cls)}
        self._check = check
        self._on_change = on_change
        given = parameter_overrides(node)
        values = dict(defaults or {})
        for name, info in self._infos.items():
            if name in given:
                values[info.name] = self._coerce(name, given[name])
        self.value: ParametersT = self._build(values)
        for name, info in self._infos.items():
            self._declare(name, info)
        _float_kinds(node).update({name: info.kind for name, info in self._infos.items()})
        node.add_on_set_parameters_callback(self._check_change)
        node.add_post_set_parameters_callback(self._accept_change)

    @property
    def names(self) -> tuple[str, ...]:
        """ROS names, in order of declaration."""
        return tuple(self._infos)

    def undeclare(self) -> None:
        """Undeclare all of them, which must not be read-only."""
        self._node.remove_on_set_parameters_callback(self._check_change)
        self._node.remove_post_set_parameters_callback(self._accept_change)
        for name in self._infos:
            self._node.undeclare_parameter(name)
            _float_kinds(self._node).pop(name, None)

    def set(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """
        Set parameters by their names in the dataclass, all or none.

        Returns
        -------
        tuple of str
            ROS names of those whose value changed.

        Raises
        ------
        ConfigurationError
            For an unknown name or a bad value.

        """
        before = asdict(self.value)
        after = asdict(self._build({**before, **values}))
        changed = {name: value for name, value in after.items() if value != before[name]}
        if changed:
            result = self._node.set_parameters_atomically(
                [self._parameter(self._prefix + name, value) for name, value in changed.items()]
            )
            if not result.successful:
                raise ConfigurationError(result.reason)
            if asdict(self.value) == before:
                raise ConfigurationError('the parameters were restored: the log has the reason')
        return tuple(self._prefix + name for name in changed)

    def _parameter(self, name: str, value: Any) -> Parameter:
        info = self._infos[name]
        return Parameter(
            name, _PARAMETER_TYPES[info.kind], list(value) if info.kind == 'floats' else value
        )

    def _declare(self, name: str, info: ParameterInfo) -> None:
        value = getattr(self.value, info.name)
        if info.kind == 'floats':
            # rclpy takes an empty list for one of bytes; declared by type it stays unset.
            value = list(value) or _PARAMETER_TYPES[info.kind]
        self._node.declare_parameter(name, value, parameter_descriptor(info), ignore_override=True)

    def _coerce(self, name: str, value: Any) -> Any:
        info = self._infos[name]
        if info.kind == 'floats' and not isinstance(value, str) and hasattr(value, 'tolist'):
            value = value.tolist()
        try:
            return info.coerce(value)
        except ConfigurationError as error:
            raise ConfigurationError(
                str(error).replace(f"'{info.name}'", f"'{name}'", 1)
            ) from None

    def _build(self, values: Mapping[str, Any]) -> ParametersT:
        return make_parameters(self._cls, values)

    def _changed_value(self, parameters: Iterable[Parameter]) -> ParametersT | None:
        values = {
            self._infos[given.name].name: self._coerce(given.name, given.value)
            for given in parameters
            if given.name in self._infos
        }
        return self._build({**asdict(self.value), **values}) if values else None

    def _check_change(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            changed = self._changed_value(parameters)
            if changed is not None and changed != self.value and self._check is not None:
                self._check(changed)
        except CAUGHT_EXCEPTIONS as error:
            return SetParametersResult(successful=False, reason=describe_error(error))
        return SetParametersResult(successful=True)

    def _accept_change(self, parameters: list[Parameter]) -> None:
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
        """Set all parameters back to the values of a previous instance."""
        self._node.set_parameters_atomically(
            [
                self._parameter(name, getattr(old, info.name))
                for name, info in self._infos.items()
                if not info.read_only and getattr(old, info.name) != getattr(self.value, info.name)
            ]
        )


def refuse_unknown_overrides(node: Node, foreign_prefixes: tuple[str, ...] = ()) -> None:
    """
    Refuse overrides that no parameter of the node takes; call it after all declarations.

    Parameters
    ----------
    node : Node
    foreign : tuple of str
        Prefixes of parameters of other nodes, which a shared file may contain.

    Raises
    ------
    ConfigurationError
        Naming the first of them and the nearest declared name. ROS would ignore it silently.

    """
    declared = sorted(node.get_parameters_by_prefix(''))
    for name in sorted(parameter_overrides(node)):
        allowed = name in _FOREIGN_NAMES or name.startswith(
            (*_FOREIGN_PREFIXES, *foreign_prefixes)
        )
        if not allowed and not node.has_parameter(name):
            valid = [item for item in declared if not item.startswith('qos_overrides.')]
            raise unknown_name_error('parameter', name, valid)


def to_parameter_values(values: Mapping[str, Any]) -> list[Any]:
    """
    Return named values as ``rcl_interfaces/Parameter`` messages, types kept.

    A list that mixes whole and other numbers becomes one of doubles.
    """
    return [
        Parameter(name, *_type_and_value(name, value)).to_parameter_msg()
        for name, value in values.items()
    ]


def from_parameter_values(messages: Iterable[Any]) -> dict[str, Any]:
    """Return the named values of ``rcl_interfaces/Parameter`` messages; lists become tuples."""
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
