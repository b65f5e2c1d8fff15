"""Models from energies.

| module | what it holds |
|---|---|
| `model` | `LagrangianModel`, what an author derives from; `NamedModel`, of equations that a scenario names |
| `system` | `System`, in which equations are written: energies, forces, frames, shapes |
| `equations` | Lagrange's equations of a system, as expressions |
| `tape`, `tape_kernel` | expressions as a list of operations, and the kernel that carries them out |
| `symbolic` | the expressions for planners and estimators |
| `option_symbols` | options as symbols |
"""
