"""Viewers of corekit: key-frame pictures by matplotlib, stand-alone HTML replays by viser."""
