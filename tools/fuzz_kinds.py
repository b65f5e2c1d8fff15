"""Kinds of files that `fuzz_files.py` tries: how a case is made, and what reads it."""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import tempfile
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import tomli_w
from attrs import evolve, frozen
from fuzz_mutations import mutate_bytes, mutate_document, mutate_text

from corekit.compiled import compiled
from corekit.errors import Mistake
from corekit.registry.resolve import resolve
from corekit.roles.planner import Plan
from corekit.scenario.component_selection import load_config
from corekit.scenario.load import load, shipped_scenarios
from corekit_import.mesh import read_solid
from corekit_import.mesh_source import MeshSource
from corekit_import.read_robot import robot_links
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader
from corekit_record.results import Results
from corekit_run.folder import read_log, read_status
from corekit_run.running import find_resumable, replay
from corekit_study.fit_file import load_fit
from corekit_study.plan_file import load_plan_file
from corekit_study.plan_folder import read_warm_start, write_plan
from corekit_study.variants import spread, variants

__all__ = ["KINDS", "Kind"]


@frozen
class Kind:
    """A kind of file.

    Args:
        make: the bytes of a case. read: reads the file as corekit does. suffix: of its name.
    """

    name: str
    suffix: str
    make: Callable[[Random], bytes]
    read: Callable[[Path], object]


_SLOW = {"gvs/cdpr", "teaching/snake"}
"""Scenarios that begin with an equilibrium whose search takes seconds."""


@cache
def _shipped(form: str) -> dict[str, dict[str, Any]]:
    tables = {name: tomllib.loads(file.read_text("utf-8")) for name, file in shipped_scenarios().items()}
    return {
        name: table
        for name, table in tables.items()
        if table["format"].startswith(form) and name not in _SLOW
    }


def _toml(chance: Random, sound: dict[str, dict[str, Any]]) -> bytes:
    """A mutation of one of some tables, of the table or of its text."""
    document = sound[chance.choice(sorted(sound))]
    if chance.random() < 0.85:
        document = mutate_document(chance, document, list(sound.values()))
    text = tomli_w.dumps(document)
    if chance.random() < 0.2:
        text = mutate_text(chance, text)
    data = text.encode()
    return mutate_bytes(chance, data) if chance.random() < 0.05 else data


def _read_scenario(file: Path) -> None:
    load(file).compose()


@cache
def _plans() -> dict[str, dict[str, Any]]:
    """The shipped plans, their scenarios by name."""
    return {
        name: table | {"scenario": f"{name.partition('/')[0]}/{Path(table['scenario']).stem}"}
        for name, table in _shipped("corekit-plan/").items()
    }


def _read_plan(file: Path) -> None:
    plan = load_plan_file(file)
    load_config(resolve("planners", plan.use), plan.options, "options")


_FITS = {
    "vine": {
        "format": "corekit-fit/1",
        "name": "swing",
        "scenario": "vine/oscillation",
        "use": "ipopt-fit",
        "set": ["bodies.robot.options.bending_stiffness=0.005"],
        "options": {
            "profile": "none",
            "markers": {"file": "seen.csv", "deviation": 1e-4},
            "parameters": [{"name": "bending_stiffness", "low": 1e-3, "high": 1.0}],
        },
    }
}


def _read_fit(file: Path) -> None:
    fit = load_fit(file)
    load_config(resolve("estimators", fit.use), fit.options, "options")


def _make_sweep(chance: Random) -> bytes:
    lines = [
        "time.step=1e-4:1e-2:5:log",
        "contact.solver.use=lcp,qp",
        "bodies[0].options.mass=[1, 2],{a = 1}",
    ]
    return mutate_text(chance, "\n".join(lines[: chance.randrange(1, 4)])).encode()


def _read_sweep(file: Path) -> None:
    variants([spread(line) for line in file.read_text("utf-8").split("\n")])


def _make_table(chance: Random) -> bytes:
    rows = [",".join(f"{0.1 * k + i:g}" for i in range(10)) for k in range(6)]
    text = "\n".join(["time," + ",".join("abcdefghi"), *rows])
    return (
        mutate_bytes(chance, text.encode()) if chance.random() < 0.5 else mutate_text(chance, text).encode()
    )


def _read_table(file: Path) -> None:
    signal = f"bodies[0].inputs[0].signal={{kind='csv', file='{file}', interpolation='cubic'}}"
    load("cusp/inclined-box", [signal]).compose()


@cache
def _sound_run() -> dict[str, bytes]:
    """Files of a short run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        load("teaching/two-arms", ["time.duration=0.02", "output.every=0.002"]).run(directory=path)
        return {each.name.partition("-")[0]: each.read_bytes() for each in path.iterdir()}


def _of_run(name: str) -> Callable[[Random], bytes]:
    return lambda chance: mutate_bytes(chance, _sound_run()[name])


def _read_results(file: Path) -> None:
    results = Results(file)
    for name in ("coordinates", "velocities", "frames", "energy", "solves", "statistics"):
        getattr(results, name)
    results.contacts(-1)
    results.replay()


def _read_folder(file: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for sound, data in _sound_run().items():
            (folder / ("checkpoint-000000000020.npz" if sound == "checkpoint" else sound)).write_bytes(data)
        (folder / ("STATUS" if file.suffix == ".status" else "log.jsonl")).write_bytes(file.read_bytes())
        read_log(folder)
        assert read_status(folder).status
        find_resumable(folder)


_MEMORY = Plan(
    time=np.linspace(0.0, 1.0, 7),
    bodies={},
    warm_start={
        "names": np.array(["l", "v", "tau"]),
        "sizes": np.array([2.0, 2.0, 1.0]),
        "start": np.zeros(5),
        "x": np.linspace(0.0, 1.0, 30).reshape(6, 5),
        "multipliers bounds": np.zeros((6, 5)),
    },
)


_OTHERS: tuple[Callable[[np.ndarray[Any, Any]], object], ...] = (
    lambda array: array[1:],
    lambda array: array[None],
    lambda array: array.ravel(),
    lambda array: array.astype("S"),
    lambda array: np.full(array.shape, np.nan),
    lambda array: np.full(array.shape, -(2**63)),
    lambda array: np.zeros(array.shape, dtype=complex),
    lambda array: array[:0],
    lambda array: np.concatenate([array, array]),
)
"""Makes whole arrays that are none of a plan: a mutation of bytes never does, since archives hold a sum of theirs."""


def _make_memory(chance: Random) -> bytes:
    """What a plan leaves for another one to begin from."""
    kept = dict(_MEMORY.warm_start)
    as_written = chance.random() < 0.5
    if not as_written:
        name = chance.choice(sorted(kept))
        kept[name] = np.asarray(chance.choice(_OTHERS)(kept[name]))
    with tempfile.TemporaryDirectory() as folder:
        write_plan(evolve(_MEMORY, warm_start=kept), Path(folder), "fuzz")
        data = (Path(folder) / "memory.npz").read_bytes()
    return mutate_bytes(chance, data) if as_written else data


def _read_memory(file: Path) -> None:
    from corekit_mpcc.planner import motion_from_plan  # needs casadi

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(file, Path(folder) / "memory.npz")
        motion = motion_from_plan(read_warm_start(Path(folder)))
        motion.resample(4)


_CORNERS = [(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.3)]
_SIDES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def _make_ply(chance: Random) -> bytes:
    """A box as text or as numbers, with the pictures that such files name."""
    packed = chance.random() < 0.5
    head = [
        "ply", f"format {'binary_little_endian' if packed else 'ascii'} 1.0", "comment TextureFile skin.png",
        "element vertex 8", *(f"property float {axis}" for axis in "xyz"), "property float s", "property float t",
        "element face 12", "property list uchar int vertex_indices", "end_header",
    ]  # fmt: skip
    if packed:
        body = b"".join(struct.pack("<5f", *corner, 0.5, 0.5) for corner in _CORNERS)
        body += b"".join(struct.pack("<B3i", 3, *side) for side in _SIDES)
        return mutate_bytes(chance, ("\n".join(head) + "\n").encode() + body)
    lines = [" ".join(map(str, (*corner, 0.5, 0.5))) for corner in _CORNERS]
    lines += [" ".join(map(str, (3, *side))) for side in _SIDES]
    return mutate_text(chance, "\n".join([*head, *lines, ""])).encode()


def _read_mesh(file: Path) -> None:
    read_solid(MeshSource(file=file, convex="hull"))


_ROBOT = """<?xml version="1.0" encoding="{}"?>
<robot name="r"><link name="world"/><link name="arm"><inertial><origin xyz="0 0 0.1" rpy="0 0 1"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1"/></joint></robot>
"""
_DECLARED = (
    "utf-8", "utf-16", "utf-32", "latin-1", "cp1252", "cp037", "shift_jis", "utf-7", "hex", "rot13", "zlib", "idna",
    "punycode", "undefined", "unicode_escape", "no such", "",
)  # fmt: skip


def _make_robot(chance: Random) -> bytes:
    """A robot that says another encoding than it has, or declares what is refused, or is damaged."""
    text = _ROBOT.format(chance.choice(_DECLARED))
    if chance.random() < 0.3:
        text = text.replace("<robot", '<!DOCTYPE r [<!ENTITY a "b">]><robot', 1)
    if chance.random() < 0.5:
        text = mutate_text(chance, text)
    data = text.encode(
        chance.choice(("utf-8", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037")), "replace"
    )
    return mutate_bytes(chance, data) if chance.random() < 0.3 else data


def _read_robot(file: Path) -> None:
    mistakes: list[Mistake] = []
    links = robot_links(RobotSource(file=file), XmlReader("robot", file.name), mistakes)
    assert bool(links) != bool(mistakes)


def _part(x: float) -> float:
    return 2.0 * x + 0.5


@cache
def _kept_code() -> Path:
    """The file of a kernel's machine code, in a cache folder of this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    os.environ["COREKIT_CACHE"] = folder
    assert compiled(_part)(3.0) == 6.5
    return next(Path(folder).rglob("*.nbc"))


@cache
def _sound_code() -> bytes:
    return _kept_code().read_bytes()


def _read_code(file: Path) -> None:
    _kept_code().write_bytes(file.read_bytes())
    assert compiled(_part)(3.0) == 6.5


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "scenario", ".toml", lambda chance: _toml(chance, _shipped("corekit-scenario/")), _read_scenario
        ),
        Kind("plan", ".toml", lambda chance: _toml(chance, _plans()), _read_plan),
        Kind("fit", ".toml", lambda chance: _toml(chance, _FITS), _read_fit),
        Kind("sweep", ".txt", _make_sweep, _read_sweep),
        Kind("table", ".csv", _make_table, _read_table),
        Kind("checkpoint", ".npz", _of_run("checkpoint"), replay),
        Kind("results", ".nc", _of_run("results.nc"), _read_results),
        Kind("status", ".status", _of_run("STATUS"), _read_folder),
        Kind("log", ".jsonl", _of_run("log.jsonl"), _read_folder),
        Kind("memory", ".npz", _make_memory, _read_memory),
        Kind("ply", ".ply", _make_ply, _read_mesh),
        Kind("robot", ".urdf", _make_robot, _read_robot),
        Kind("code", ".nbc", lambda chance: mutate_bytes(chance, _sound_code()), _read_code),
    )
}
