"""Linear complementarity solvers: Lemke's pivoting, projected Gauss–Seidel, a recorded chain of solvers."""
