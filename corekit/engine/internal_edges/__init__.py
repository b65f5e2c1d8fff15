"""One contact where two shapes of one surface would each report theirs: ends of capsules, seams of boxes."""
