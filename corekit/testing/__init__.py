"""Reference plugins: small, readable implementations of every role, for tests and as examples.

Pure numpy, one idea a file, exact rather than fast; `world.py` puts them together without a scenario.
"""
