# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shell script that enters an environment: ``build/env.sh``."""

from __future__ import annotations

from pathlib import Path
import shlex
import sys

from environments import ROOT, Environment

LOOPBACK_PROFILE = 'gait_bringup/share/gait_bringup/config/loopback.xml'
# With any of these a user chooses how nodes find each other.
DISCOVERY_VARIABLES = (
    'ROS_AUTOMATIC_DISCOVERY_RANGE',
    'ROS_STATIC_PEERS',
    'ROS_LOCALHOST_ONLY',
    'ROS_DISCOVERY_SERVER',
    'FASTDDS_BUILTIN_TRANSPORTS',
    'FASTDDS_DEFAULT_PROFILES_FILE',
    'FASTRTPS_DEFAULT_PROFILES_FILE',
)


def discovery_lines(place: Environment, site: Path) -> str:
    """Return the lines that keep nodes on loopback, unless the user has set up discovery."""
    # Each name belongs to one major version of Fast DDS, whose wheels have other names, too.
    is_version_3 = any(site.glob('ros_fastdds-*.dist-info'))
    variable = f'{"FASTDDS" if is_version_3 else "FASTRTPS"}_DEFAULT_PROFILES_FILE'
    profile = shlex.quote(str(place.install / LOOPBACK_PROFILE))
    chosen = ''.join(f'${{{name}-}}' for name in DISCOVERY_VARIABLES)
    return f"""\
# Nodes listen on loopback only, unless one of these variables is set: doc/security.md.
if [ -z "{chosen}" ] && [ -r {profile} ]; then
  case "${{RMW_IMPLEMENTATION-}}" in
  '' | rmw_fastrtps_*)
    export ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT
    export {variable}={profile}
    ;;
  esac
fi
export ROS_AUTOMATIC_DISCOVERY_RANGE="${{ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}}"
"""


def environment_script(place: Environment, names: dict[str, Path]) -> str:
    """Return the shell script that enters the environment."""
    version = f'python{sys.version_info[0]}.{sys.version_info[1]}'
    site = place.venv / 'lib' / version / 'site-packages'
    # As the wheels' bootstrapper would set it, which re-executes every Python unless it sees
    # its own mark.
    libraries = [place.venv / 'lib', *sorted(site.glob('ros_*.libs'))]
    python_path = []
    prefixes = []
    for name in sorted(names):
        prefix = place.install / name
        if not prefix.is_dir():
            continue
        prefixes.append(prefix)
        if (place.build / name / f'{name}.egg-info').is_dir():
            python_path.append(place.build / name)
        if (prefix / 'lib' / version / 'site-packages' / name).is_dir():
            python_path.append(prefix / 'lib' / version / 'site-packages')
        if any((prefix / 'lib').glob('*.so')):
            libraries.append(prefix / 'lib')
    prefixes.append(place.venv)
    completion = ROOT / 'src' / 'gait_tools' / 'completion'

    def joined(paths: list[Path]) -> str:
        """Return paths as one quoted word of a shell."""
        return shlex.quote(':'.join(str(path) for path in paths))

    return f"""\
# Made by `make setup`; source it (bash, zsh or sh) to enter the environment of this workspace.
case "${{GAIT_WORKSPACE-}}" in
{shlex.quote(str(place.base))}) ;;
*)
  if [ -n "${{ROS_DISTRO-}}${{GAIT_WORKSPACE-}}" ]; then
    # A sourced ROS or another environment has other libraries: leave it out.
    unset PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH NUMBA_CACHE_DIR
  fi
  case "${{FASTDDS_DEFAULT_PROFILES_FILE-}}${{FASTRTPS_DEFAULT_PROFILES_FILE-}}" in
  */{LOOPBACK_PROFILE})
    # That of another environment, for another version of Fast DDS.
    unset ROS_AUTOMATIC_DISCOVERY_RANGE
    unset FASTDDS_DEFAULT_PROFILES_FILE FASTRTPS_DEFAULT_PROFILES_FILE
    ;;
  esac
  export GAIT_WORKSPACE={shlex.quote(str(place.base))}
  export VIRTUAL_ENV={shlex.quote(str(place.venv))}
  export PATH={joined([place.venv / 'bin', ROOT])}"${{PATH:+:$PATH}}"
  export PYTHONPATH={joined(python_path)}"${{PYTHONPATH:+:$PYTHONPATH}}"
  export AMENT_PREFIX_PATH={joined(prefixes)}"${{AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}}"
  export LD_LIBRARY_PATH={joined(libraries)}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
  ;;
esac
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
export PYTHONNOUSERSITE=1
[ -n "${{NUMBA_CACHE_DIR-}}" ] || export NUMBA_CACHE_DIR={shlex.quote(str(place.kernels))}
{discovery_lines(place, site)}export OMP_NUM_THREADS="${{OMP_NUM_THREADS:-1}}"
export OPENBLAS_NUM_THREADS="${{OPENBLAS_NUM_THREADS:-1}}"
export MKL_NUM_THREADS="${{MKL_NUM_THREADS:-1}}"
case $- in
*i*)
  echo {shlex.quote(str(ROOT / 'gait'))} "is now the command gait of this shell"
  if [ -n "${{BASH_VERSION-}}" ]; then
    . {shlex.quote(str(completion / 'gait.bash'))}
  elif [ -n "${{ZSH_VERSION-}}" ]; then
    . {shlex.quote(str(completion / 'gait.zsh'))}
  fi
  ;;
esac
"""
