"""Many worlds of one scenario in one compiled call, equal to single steps bit for bit."""
