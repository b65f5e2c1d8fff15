"""Running a simulation: the loop, what is recorded, the run folder, reading it back."""
