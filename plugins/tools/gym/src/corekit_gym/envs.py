"""Imported, it lets `gymnasium.make` find the tasks: `corekit/reach`, and `corekit/task` for a file of one's own.

    import corekit_gym.envs

    gymnasium.make("corekit/reach")
    gymnasium.make("corekit/task", task="lift.toml")

`gymnasium.make("corekit_gym.envs:corekit/reach")` imports it itself.
"""

from __future__ import annotations

from gymnasium import register

from corekit_gym.task_file import shipped_tasks

__all__: list[str] = []

_ENVIRONMENT = "corekit_gym.environment:Environment"

# Gymnasium's checker would test every step anew; these environments check what they are given.
register("corekit/task", _ENVIRONMENT, disable_env_checker=True)
for _name in shipped_tasks():
    register(f"corekit/{_name}", _ENVIRONMENT, kwargs={"task": _name}, disable_env_checker=True)
