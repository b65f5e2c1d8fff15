"""Formulas that users type: read by our own grammar, never executed, and handed to SymPy for derivatives.

    numbers, the given names, pi, e, + − * / **, sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs min max step

`step(x)` is 1 where x > 0.

SymPy takes a quarter of a second to import, as long as everything else that a robot needs: code that reads a formula
imports this module when there is one.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from sympy.core.function import Application
from sympy.printing.numpy import NumPyPrinter

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake

__all__ = ["KNOWN", "evaluator", "evaluator_with_slope", "expression", "formula_of", "translated"]

_PRINTER: Any = NumPyPrinter  # without types
_LONGEST = 2000
_HIGHEST = 64
_LONGEST_NUMBER = 2048
"""Bits of a whole number or of a part of a fraction; the largest number of arrays has 1024."""
_MOST_FUNCTIONS, _DEEPEST = 16, 400
"""Within each other: functions and powers, of which derivatives take SymPy minutes; and all signs."""
KNOWN = frozenset(
    ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
     "log", "Abs", "sign", "Min", "Max", "Piecewise")
)  # fmt: skip
"""Functions of SymPy that a formula may hold, by their class; roots are powers."""
_MULTIPLIED = 8
"""Highest power that is a product: an array's third power takes numpy as long as ten products."""


def _real(number: Any) -> float:
    """The value of a number, NaN where it is none that is real and finite."""
    try:
        return float(number)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _power(base: Any, power: Any) -> Any:
    """A power, of which SymPy would hold any number exactly, and search powers of powers for ever.

    Raises:
        ValueError: what a formula may hold.
    """
    if not power.is_number:
        return base**power
    size = abs(_real(power))
    if not size <= _HIGHEST:
        raise ValueError(f"may hold powers up to {_HIGHEST}")
    if base.is_Rational and max(abs(base.p), base.q).bit_length() * size > _LONGEST_NUMBER:
        raise ValueError("may hold numbers up to 1e308")
    return base ** (power if power.is_Rational else sympy.Float(_real(power)))


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: _power,
}
_SIGN: dict[type[ast.unaryop], int] = {ast.UAdd: 1, ast.USub: -1}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "asin": sympy.asin, "acos": sympy.acos,
    "atan": sympy.atan, "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh, "exp": sympy.exp,
    "log": sympy.log, "sqrt": sympy.sqrt, "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max,
    "step": lambda x: sympy.Piecewise((1, x > 0), (0, True)),
}  # fmt: skip


def expression(text: str, names: Sequence[str], path: str) -> sympy.Expr:
    """The formula as a SymPy expression in real symbols of these names.

    Raises:
        ConfigError: what is not in the grammar, with its place in the formula; what has no finite real value anywhere.
    """

    def refuse(found: object, allowed: str) -> ConfigError:
        return ConfigError([Mistake(path, found, allowed)], "a formula")

    tree = _parsed(text, names, refuse)
    known = {name: sympy.Symbol(name, real=True) for name in names} | {"pi": sympy.pi, "e": sympy.E}

    def read(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return sympy.Integer(node.value) if isinstance(node.value, int) else sympy.Float(node.value)
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGN:
            return _SIGN[type(node.op)] * read(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = read(node.left), read(node.right)
            try:
                return _BINARY[type(node.op)](left, right)
            except ValueError as error:
                raise refuse(ast.unparse(node), str(error)) from error
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            known_function = _FUNCTIONS.get(node.func.id)
            if known_function is not None and node.args:
                try:
                    return known_function(*[read(each) for each in node.args])
                except TypeError as error:
                    raise refuse(ast.unparse(node), "takes another number of arguments") from error
        words = f"may hold numbers, {', '.join(known)}, + - * / ** and {', '.join(_FUNCTIONS)}"
        raise refuse(ast.unparse(node), words)

    value = read(tree)
    if value.has(sympy.zoo, sympy.oo, -sympy.oo, sympy.nan, sympy.I):
        said = "has no finite real value: it divides by 0, or takes a root or logarithm of what is < 0"
        raise refuse(text, said)
    return value


def _parsed(text: str, names: Sequence[str], refuse: Callable[[object, str], ConfigError]) -> ast.expr:
    """The syntax of a formula, of bounded length and depth."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        found = f"{len(text)} characters" if isinstance(text, str) else text
        raise refuse(
            found, f"must be a text of at most {_LONGEST} characters: a formula of {', '.join(names)}"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refuse(text, f"is not a formula of {', '.join(names)}") from error
    if too_deep := _too_deep(tree):
        raise refuse(f"{len(text)} characters", too_deep)
    return tree


def _too_deep(tree: ast.expr) -> str:
    """What is wrong with a formula that has too much within each other, if anything."""
    todo = [(tree, 0, 0)]
    while todo:
        node, level, functions = todo.pop()
        functions += isinstance(node, ast.Call) or isinstance(getattr(node, "op", None), ast.Pow)
        if functions > _MOST_FUNCTIONS:
            return f"may hold {_MOST_FUNCTIONS} functions and powers within each other"
        if level > _DEEPEST:
            return f"may hold {_DEEPEST} signs and brackets within each other"
        todo += [
            (each, level + 1, functions) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)
        ]
    return ""


class _Products(_PRINTER):
    """Whole powers of symbols as products."""

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, power = expr.args
        whole = int(power) if base.is_Symbol and power.is_Integer else 0
        # numpy's own squares, roots and reciprocals are fast
        if whole in (-1, 2) or not 1 < abs(whole) <= _MULTIPLIED:
            return super()._print_Pow(expr, rational)
        product = "*".join([self._print(base)] * abs(whole))
        return f"({product})" if whole > 0 else f"(1/({product}))"


_PRINTED = {"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True}
"""As `lambdify` sets its own printer."""


def evaluator(expressions: Sequence[Any], names: Sequence[str]) -> Callable[..., Array]:
    """A function of arrays (broadcast together) that returns the expressions' values, shape (count, …).

    Slopes of abs, min and max jump at a kink; slopes of these slopes are those beside it, where they are 0.
    """
    symbols = [sympy.Symbol(name, real=True) for name in names]
    none = sympy.Integer(0)
    beside = [sympy.sympify(each).replace(sympy.DiracDelta, lambda *_: none) for each in expressions]
    function = sympy.lambdify(symbols, beside, modules="numpy", cse=True, printer=_Products(_PRINTED))

    def write(arguments: Sequence[Any], out: Array) -> None:
        for i, value in enumerate(function(*arguments)):
            out[i] = value

    def evaluate(*arguments: Any) -> Array:
        shapes = {each.shape for each in arguments if isinstance(each, np.ndarray) and each.ndim}
        shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        out = np.empty((len(expressions), *shape))
        with np.errstate(all="ignore"):  # the caller looks at what is not finite
            try:
                write(arguments, out)
            except (ArithmeticError, TypeError):
                # Python's numbers raise or turn complex where numpy's do not
                write([np.asarray(each, dtype=np.float64) for each in arguments], out)
        return out

    return evaluate


@lru_cache(maxsize=256)
def evaluator_with_slope(text: str, name: str, path: str) -> Callable[..., Array]:
    """A function of an array (n,) that returns a formula's values and derivatives by `name`, shape (2, n).

    Raises:
        ConfigError: what is not a formula.
    """
    value = expression(text, [name], path)
    return evaluator([value, sympy.diff(value, sympy.Symbol(name, real=True))], [name])


def formula_of(
    function: Callable[..., Any], arguments: Sequence[Any], names: Sequence[str], path: str
) -> Any:
    """What a Python function makes of symbols.

    Args:
        function: of the user.
        arguments: symbols, or tuples of them, as it takes them.
        names: of all symbols.
        path: where it stands in the options.

    Raises:
        ConfigError: what is no formula of these symbols by functions that arrays have.
    """

    def refuse(said: str) -> ConfigError:
        return ConfigError([Mistake(path, function, said)], "a Python function")

    try:
        made = sympy.sympify(function(*arguments), strict=True)
        strange = sorted({str(symbol) for symbol in made.free_symbols} - set(names))
        unknown = sorted({type(call).__name__ for call in made.atoms(Application)} - KNOWN)
    except Exception as error:
        said = f"must make a formula of the symbols {', '.join(names)} (use sympy's functions): {error}"
        raise refuse(said) from error
    if strange:
        raise refuse(f"may hold {', '.join(names)}; {', '.join(strange)} is none of them")
    if unknown:
        raise refuse(f"may hold {', '.join(sorted(KNOWN))}; {', '.join(unknown)} is none of them")
    return made


def translated(
    formulas: Sequence[Any], names: Sequence[str], functions: Mapping[str, Callable[..., Any]]
) -> Callable[..., list[Any]]:
    """A function of another library's expressions that returns formulas of them.

    Args:
        formulas: of symbols with these names.
        names: in the order of the arguments.
        functions: that library's, of KNOWN and `sqrt`; `Piecewise` is one of (condition, then, else).
    """
    choose: Any = sympy.Function("Piecewise")

    def chosen(*pairs: Any) -> Any:
        *before, (value, _) = pairs
        for each, condition in reversed(before):
            value = choose(condition, each, value)
        return value

    simple = [sympy.sympify(each).replace(sympy.Piecewise, chosen) for each in formulas]
    symbols = [sympy.Symbol(name, real=True) for name in names]
    made: Callable[..., list[Any]] = sympy.lambdify(symbols, simple, [dict(functions)])
    return made
