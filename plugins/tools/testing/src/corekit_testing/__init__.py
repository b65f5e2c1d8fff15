"""What authors of plugins test with: a conformance kit, reference components of every role, a generator of plugins.

The reference components are pure numpy, one idea a file, exact rather than fast; `small_world.py` puts them together
without a scenario.
"""
