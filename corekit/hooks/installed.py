"""The installed answers to hooks: found through entry points, called one by one, left out when they break."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, final

from corekit.distributions import EntryPoint, distributions, entry_points

if TYPE_CHECKING:
    import pluggy

    from corekit.hooks.specs import FolderReport, SchedulerEntry, Verb

__all__ = ["GROUP", "Hooks", "Owner", "installed_hooks"]

GROUP = "corekit.hooks"


class Owner(NamedTuple):
    """The distribution whose hooks answer."""

    name: str
    version: str


@cache
def installed_hooks() -> Hooks:
    """The hooks of this process: entry points are imported once, as modules are.

    A line on the error stream tells of each distribution whose files are damaged: what is lost of it nobody would know.
    """
    for each in distributions():
        if each.damage:
            sys.stderr.write(f"corekit: {each.name} {each.version} is damaged: {each.damage}\n")
    return Hooks(entry_points(GROUP))


@final
class Hooks:
    """The plugins that answer hooks.

    Args:
        entries: entry points; without any, pluggy is not even imported.

    Attributes:
        left_out: why each plugin that is left out is, as far as hooks have been called.
    """

    def __init__(self, entries: Iterable[EntryPoint]) -> None:
        self.left_out: dict[str, str] = {}
        self._manager: pluggy.PluginManager | None = None
        self._owners: dict[str, Owner] = {}
        for entry in sorted(set(entries)):
            self._register(entry)

    def verbs(self) -> list[tuple[Owner, Verb]]:
        """Every verb, with the distribution that adds it."""
        return self._listed("corekit_verbs", _is_verb, "Verb(name, 'module:function', help)")

    def folder_reports(self) -> list[FolderReport]:
        """Files of run folders that others can show."""
        return [report for _, report in self._listed("corekit_folder_reports", _is_report, "FolderReport")]

    def schedulers(self) -> list[tuple[Owner, SchedulerEntry]]:
        """Places where many runs can be made, with the distribution that brings each."""
        return self._listed(
            "corekit_schedulers", _is_scheduler, "SchedulerEntry(word, 'module:function', help)"
        )

    def targets(self, hook: str) -> list[tuple[Owner, str]]:
        """Every `module:name` that answers a hook with a list of them, with the distribution that brings it."""
        return self._listed(hook, _is_target, "'module:function'")

    def target(self, hook: str) -> str:
        """The first `module:name` that answers a hook with one, empty if none does."""
        return next((target for _, target in self.offered(hook)), "")

    def offered(self, hook: str) -> Iterator[tuple[Owner, str]]:
        """Every answer to a hook of which the first is used, with the distribution that brings it."""
        for who, answer in self._answers(hook):
            if _is_target(answer):
                yield self._owners[who], answer
            else:
                self._leave_out(who, f"its {hook} must return 'module:name'")

    def report(self, hook: str, **arguments: Any) -> None:
        """Report an event."""
        for _ in self._answers(hook, **arguments):
            pass

    def is_implemented(self, hook: str) -> bool:
        """Whether anything answers a hook."""
        return bool(self._implementations(hook))

    # — calling them —

    def _listed(self, hook: str, fits: Callable[[object], bool], what: str) -> list[tuple[Owner, Any]]:
        """The entries of all answers with their plugins; a plugin that answers something else is left out."""
        found: list[tuple[Owner, Any]] = []
        for who, answer in self._answers(hook):
            if isinstance(answer, (list, tuple)) and all(map(fits, answer)):
                found += [(self._owners[who], each) for each in answer]
            else:
                self._leave_out(who, f"its {hook} must return a list of {what}")
        return found

    def _answers(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Name and answer of each, called one by one, so that one that raises does not silence the next."""
        for each in self._implementations(hook):
            try:
                answer = each.function(*(arguments[name] for name in each.argnames))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code may raise anything
                self._leave_out(each.plugin_name, f"{hook} raised {_described(error)}")
            else:
                if answer is not None:
                    yield each.plugin_name, answer

    def _implementations(self, hook: str) -> list[pluggy.HookImpl]:
        return [] if self._manager is None else getattr(self._manager.hook, hook).get_hookimpls()

    # — which plugins answer —

    def _register(self, entry: EntryPoint) -> None:
        manager = self._manager or _manager()
        self._manager = manager
        owner = Owner(entry.distribution or entry.name, entry.version)
        name = f"{entry.name!r} of {' '.join(owner)}" if entry.distribution else repr(entry.name)
        self._owners[name] = owner
        try:
            plugin = entry.load()
            if isinstance(plugin, type):
                plugin = plugin()
            manager.register(plugin, name)
            problem = _unheard(plugin, manager.get_hookcallers(plugin) or ())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's code may raise anything
            self._leave_out(name, f"loading {entry.value} failed with {_described(error)}")
            return
        if problem:
            self._leave_out(name, problem)

    def _leave_out(self, name: str, why: str) -> None:
        if self._manager is not None and self._manager.has_plugin(name):
            self._manager.unregister(name=name)
        self.left_out[name] = why
        sys.stderr.write(f"corekit: the hooks {name} are left out: {why}\n")


def _manager() -> pluggy.PluginManager:
    import pluggy

    from corekit.hooks.specs import PROJECT, HookSpecs

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(HookSpecs)
    return manager


def _unheard(plugin: object, callers: Sequence[pluggy.HookCaller]) -> str:
    """Why a hook that a plugin seems to answer would never reach it, or nothing."""
    from corekit.hooks.specs import PROJECT

    unknown = sorted(call.name for call in callers if call.spec is None)
    if unknown:
        return f"this kernel has no hook {', '.join(unknown)}"
    answered = {call.name for call in callers}
    named = [name for name in dir(plugin) if name.startswith(f"{PROJECT}_") and name not in answered]
    unmarked = [name for name in named if callable(getattr(plugin, name))]
    if unmarked:
        return f"the mark hookimpl is missing on {', '.join(unmarked)}"
    return "" if answered else "it answers no hook"


def _is_target(answer: object) -> bool:
    return isinstance(answer, str) and ":" in answer


def _is_report(answer: object) -> bool:
    return isinstance(answer, tuple) and len(answer) == 2 and all(isinstance(each, str) for each in answer)


def _is_scheduler(answer: object) -> bool:
    is_entry = (
        isinstance(answer, tuple) and len(answer) == 3 and all(isinstance(each, str) for each in answer)
    )
    return is_entry and bool(answer[0]) and ":" in answer[1] and hasattr(answer, "word")


def _is_verb(answer: object) -> bool:
    if not (isinstance(answer, tuple) and len(answer) == 3 and all(isinstance(each, str) for each in answer)):
        return False
    name, function, _ = answer
    return bool(name) and not name.startswith("-") and ":" in function


def _described(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
