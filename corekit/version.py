"""The version of the kernel, whose first two numbers are the plugin API."""

__all__ = ["__version__"]

__version__ = "0.2.0"
