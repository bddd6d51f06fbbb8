"""The subcommands of `gait`, one module each."""
