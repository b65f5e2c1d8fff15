"""Linear complementarity solvers: Lemke's pivoting, semismooth Newton, projected Gauss–Seidel, a recorded chain."""
