"""Worlds drawn at random, what becomes of them in a mirror, and how alike two motions must be.

`drawing` makes scenarios, `images` changes them into others whose motion is known from theirs, `motion` follows them.
"""
