# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

# argcomplete before 3.2 completes in zsh by the functions of bash.
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
source "${0:a:h}/gait.bash"
