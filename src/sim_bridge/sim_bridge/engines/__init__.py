"""Physics engines, one module each; only that module and its helpers import the library."""
