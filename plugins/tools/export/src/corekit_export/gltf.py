"""The motion of a run as binary glTF 2.0, by pygltflib: for Blender, browsers and presentations.

A node a part, parts of one form share a mesh, one animation holds every node's translation, rotation and scale. glTF
has y up and quaternions (x, y, z, w): a node above all turns z to y.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit_export.colours import colour_of
from corekit_export.scene import Part, Scene

__all__ = ["write_glb"]

_FLOAT, _UNSIGNED = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963
"""Targets of buffer views: attributes of vertices, and their indices."""
_Z_TO_Y = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]


class _Buffer:
    """One binary buffer with its views and accessors."""

    def __init__(self, gltf: Any) -> None:
        self._gltf, self._bytes = gltf, bytearray()

    def add(self, values: np.ndarray[Any, Any], kind: str, target: int | None = None) -> int:
        """Append an array; return the index of its accessor."""
        from pygltflib import Accessor, BufferView

        whole = values.astype(np.uint32 if kind == "SCALAR" and target == _ELEMENTS else np.float32)
        self._gltf.bufferViews.append(
            BufferView(buffer=0, byteOffset=len(self._bytes), byteLength=whole.nbytes, target=target)
        )
        self._bytes += whole.tobytes()
        flat = whole.reshape(len(whole), -1)
        self._gltf.accessors.append(
            Accessor(
                bufferView=len(self._gltf.bufferViews) - 1, count=len(whole), type=kind,
                componentType=_UNSIGNED if target == _ELEMENTS else _FLOAT,
                min=flat.min(axis=0).tolist(), max=flat.max(axis=0).tolist(),
            )
        )  # fmt: skip
        return len(self._gltf.accessors) - 1

    def close(self) -> None:
        from pygltflib import Buffer

        self._gltf.buffers.append(Buffer(byteLength=len(self._bytes)))
        self._gltf.set_binary_blob(bytes(self._bytes))


def write_glb(scene: Scene, path: Path) -> None:
    """Write the parts of a scene and how they move."""
    from pygltflib import (
        GLTF2,
        Animation,
        AnimationChannel,
        AnimationChannelTarget,
        AnimationSampler,
        Asset,
        Node,
    )  # fmt: skip
    from pygltflib import (
        Scene as Root,
    )

    gltf = GLTF2(asset=Asset(generator="corekit", version="2.0"), scene=0)
    buffer = _Buffer(gltf)
    meshes = _Meshes(gltf, buffer, scene)
    animation = Animation(name=scene.title)
    times = buffer.add(scene.time, "SCALAR") if len(scene.time) > 1 else None
    gltf.nodes.append(Node(name=scene.title, rotation=_Z_TO_Y, children=list(range(1, len(scene.parts) + 1))))
    for part in scene.parts:
        tracks = {
            "translation": part.position, "rotation": part.quat_wxyz[:, [1, 2, 3, 0]], "scale": part.scale,
        }  # fmt: skip
        first = {name: track[0].tolist() for name, track in tracks.items()}
        gltf.nodes.append(Node(name=part.name, mesh=meshes.index(part), **first))
        for name, track in tracks.items():
            if times is None or not (track != track[0]).any():
                continue
            values = buffer.add(track, "VEC4" if name == "rotation" else "VEC3")
            animation.samplers.append(AnimationSampler(input=times, output=values, interpolation="LINEAR"))
            target = AnimationChannelTarget(node=len(gltf.nodes) - 1, path=name)
            animation.channels.append(AnimationChannel(sampler=len(animation.samplers) - 1, target=target))
    gltf.scenes.append(Root(nodes=[0]))
    if animation.channels:
        gltf.animations.append(animation)
    buffer.close()
    gltf.save_binary(str(path))


class _Meshes:
    """Meshes by form and colour, each written once."""

    def __init__(self, gltf: Any, buffer: _Buffer, scene: Scene) -> None:
        self._gltf, self._buffer, self._scene = gltf, buffer, scene
        self._found: dict[tuple[int, tuple[float, ...]], int] = {}
        self._materials: dict[tuple[float, ...], int] = {}
        self._arrays: dict[int, tuple[int, int, int]] = {}

    def index(self, part: Part) -> int:
        from pygltflib import Attributes, Mesh, Primitive

        colour = colour_of(self._scene, part.owner)
        key = id(part.mesh), colour
        if key not in self._found:
            if key[0] not in self._arrays:
                corners, normals = _flat(part.mesh.vertices[part.mesh.faces])
                self._arrays[key[0]] = (
                    self._buffer.add(corners, "VEC3", _ARRAY), self._buffer.add(normals, "VEC3", _ARRAY),
                    self._buffer.add(np.arange(len(corners)), "SCALAR", _ELEMENTS),
                )  # fmt: skip
            position, normal, index = self._arrays[key[0]]
            attributes = Attributes(POSITION=position, NORMAL=normal)
            primitive = Primitive(attributes=attributes, indices=index, material=self._material(colour))
            self._gltf.meshes.append(Mesh(primitives=[primitive]))
            self._found[key] = len(self._gltf.meshes) - 1
        return self._found[key]

    def _material(self, colour: tuple[float, ...]) -> int:
        from pygltflib import Material, PbrMetallicRoughness

        if colour not in self._materials:
            surface = PbrMetallicRoughness(
                baseColorFactor=[*colour, 1.0], metallicFactor=0.0, roughnessFactor=0.7
            )
            self._gltf.materials.append(Material(pbrMetallicRoughness=surface, doubleSided=True))
            self._materials[colour] = len(self._gltf.materials) - 1
        return self._materials[colour]


def _flat(corners: Array) -> tuple[Array, Array]:
    """Return the corners of triangles (f, 3, 3) one by one with the normals of their triangles, shape (3·f, 3) each."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = np.divide(normal, length, out=np.tile([0.0, 0.0, 1.0], (len(normal), 1)), where=length > 0.0)
    return corners.reshape(-1, 3), np.repeat(unit, 3, axis=0)
