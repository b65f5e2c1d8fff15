"""What the tutorials print runs as it is printed, and comes to what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import corekit
from corekit.cli import main

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"


def blocks(page: str, language: str) -> list[str]:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Write a page's scenario and return the names that its Python defines, run from that folder."""
    monkeypatch.chdir(tmp_path)

    def run(page: str, skip: int = 0) -> dict[str, object]:
        for text in blocks(page, "toml"):
            name = re.findall(r"`(\w+\.toml)`", (FOLDER / f"{page}.md").read_text(encoding="utf-8"))[0]
            Path(name).write_text(text, encoding="utf-8")
            assert main(["check", name, "--strict", "--allow-code"]) == 0
        names: dict[str, object] = {}
        exec(compile("\n".join(blocks(page, "python")[skip:]), f"{page}.md", "exec"), names)
        return names

    return run


def test_the_fingers_hold_the_box_above_the_least_pressure(program):
    page = program("gripper")
    assert not page["holds"](1.1e5)
    assert page["least_pressure"](1.1e5, 1.5e5, to=2.5e4) == 1.3e5  # it tries that one
    force, share = page["grip"]()
    np.testing.assert_allclose(force, [0.0, 0.0, 0.02 * 9.81], atol=2e-3)
    assert 0.0 < share < 1.0 + 1e-6


def test_three_fingers_of_one_text_bend_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    finger, hand = blocks("copies", "toml")
    Path("parts/finger.toml").write_text(finger, encoding="utf-8")
    Path("hand.toml").write_text(hand, encoding="utf-8")
    assert main(["check", "hand.toml", "--strict"]) == 0
    simulation = corekit.load("hand.toml").compose()
    start = [simulation.frame(f"finger-{n}.section-2-tip").position for n in (1, 2, 3)]
    for _ in range(60):
        simulation.step()
    tips = [simulation.frame(f"finger-{n}.section-2-tip").position for n in (1, 2, 3)]
    lengths = [np.hypot(*tip[:2]) for tip in tips]
    assert lengths == pytest.approx([lengths[0]] * 3, rel=1e-9)
    assert lengths[0] < np.hypot(*start[0][:2]) - 0.01
    Path("parts/finger.toml").write_text(finger.replace("length =", "lenght ="), encoding="utf-8")
    assert main(["check", "hand.toml"]) == 1
    printed = (FOLDER / "copies.md").read_text(encoding="utf-8")
    said = re.search(r"has 1 mistake:\n +(.*?); …", printed)
    assert said is not None
    assert said[1] in capsys.readouterr().err


def test_a_finger_presses_as_an_elastica_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks("analysis", "python")), "analysis.md", "exec"), names)
    printed = re.search(r"presses with ([\d.]+) N", capsys.readouterr().out)
    assert printed is not None
    assert float(printed[1]) == pytest.approx(
        0.674, rel=0.05
    )  # of the scenario's file; it still sways a little
    assert names["frame"]["force:gripper:z"].iloc[-1] == pytest.approx(
        names["on"].sel(thing="gripper").item()
    )
    assert main(["export", "grip", "-o", "grip.vtkhdf"]) == 0
    assert Path("grip.vtkhdf").stat().st_size > 10_000


def test_an_arm_swings_below_a_cart_whose_drive_holds_the_weight_of_both(program, capsys):
    program("mount")
    swing, late, holds, pushes = (
        float(text) for text in re.findall(r"([\d.]+) (?:mm|N)", capsys.readouterr().out)
    )
    weight = 9.81 * (1.0 + 1070.0 * np.pi * 0.015**2 * 0.24)
    assert 20.0 < swing < 240.0  # the arm is no longer
    assert late < 0.5 * swing
    assert holds == pytest.approx(weight, rel=0.02)
    assert pushes > 1.0 * 0.5 / 2e-3 * 0.9  # the cart's own jump within a step


def test_a_tip_follows_the_circle_better_with_a_perfect_camera_and_worse_without_a_model(program, capsys):
    program("feedback")
    late, sharp, plain = (float(text) for text in re.findall(r"([\d.]+) mm", capsys.readouterr().out))
    assert sharp < 1.0 < late < plain < 20.0


def test_a_sweep_s_tips_move_less_the_stiffer_they_are(program):
    page = program("sweep")
    assert page["tips"].shape == (8, 3)
    assert page["tips"].std(axis=0).max() > 1e-4
    assert not any(each.folder.exists() for each in page["drawn"].points)
    settled = page["settled"]
    assert len(settled) == 4
    for viscosity in {numbers[1] for numbers in settled}:
        moved = [settled[numbers][0] for numbers in sorted(settled) if numbers[1] == viscosity]
        assert np.all(np.diff(moved) < 0.0)


def test_a_motion_is_learned_and_kept_to_the_bit(program, tmp_path):
    Path("acrobot.py").write_text(blocks("learning", "python")[0], encoding="utf-8")
    page = program("learning", skip=1)
    motion = page["search"](2, population=4, elite=2)
    assert page["reward"](motion) == page["reward"](motion)
    hand = page["sim"].frame("acrobot.hand").position
    page["keep"](motion, "learned")
    np.testing.assert_array_equal(corekit.Results("learned")["frame_position"][-1, -1], hand)


@pytest.mark.to_nearest("NumPy refuses a uniform sample of equal bounds whose difference is −0", "down")
def test_the_acrobot_is_an_environment_of_gymnasium(program):
    Path("acrobot.py").write_text(blocks("learning", "python")[0], encoding="utf-8")
    made = program("learning", skip=1)["SwingUp"]
    check_env(made(), skip_render_check=True)
    begun = [made().reset(seed=seed)[0] for seed in (1, 1)]
    np.testing.assert_array_equal(*begun)
    same = made(friction=(0.02, 0.02))  # the friction of the file
    same.reset(seed=0)
    rewards = [same.step(np.full(1, torque))[1] for torque in (3.0, -3.0, 6.0)]
    sim = corekit.load("acrobot.toml", allow_code=True).compose()
    for torque, reward in zip((3.0, -3.0, 6.0), rewards, strict=True):
        sim.inputs["acrobot"]["torque"] = torque
        sim.run(sim.time + 0.1)
        assert sim.frame("acrobot.hand").position[2] == reward
    several = gymnasium.vector.SyncVectorEnv([made] * 2)
    several.reset(seed=3)
    for _ in range(30):
        seen, _, ended, cut, _ = several.step(np.array([[2.0], [-2.0]]))
    assert seen.shape == (2, 7)
    assert not ended.any()
    assert cut.all()


def test_a_film_gives_the_finger_s_stiffness_back_and_tells_a_wrong_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("finger.toml", "fit.toml"), blocks("fit", "toml"), strict=True):
        Path(name).write_text(text, encoding="utf-8")
    assert main(["check", "finger.toml", "--strict"]) == 0
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks("fit", "python")), "fit.md", "exec"), names)
    told = capsys.readouterr().out
    for each, real in zip(names["found"].estimate.fitted, (80.0, 2.0), strict=True):
        assert each.low < real < each.high < 1.1 * each.low
        assert each.verdict == "identified"
    # three deviations: the state in which the finger starts is fitted too, with what that costs
    for each, whole, real in zip(
        names["steps"].fitted, names["found"].estimate.fitted, (80.0, 2.0), strict=True
    ):
        deviation = np.log(each.high / each.low) / (2 * 1.96)
        assert abs(np.log(each.value / real)) < 3.0 * deviation
        assert each.high / each.low > whole.high / whole.low
    assert "the model misses the markers" in told
    assert main(["fit", "fit.toml", "--out", "found"]) == 0
    again = corekit.load("found/fitted.toml").compose()
    again.step()
    assert {path.name for path in Path("found").iterdir()} >= {"report.json", "residuals.csv", "overlay.png"}
