# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

# Tab completion of the command gait, in bash and in zsh. Without argcomplete there is none.
if type register-python-argcomplete > /dev/null 2>&1; then
  eval "$(register-python-argcomplete gait)"
fi
