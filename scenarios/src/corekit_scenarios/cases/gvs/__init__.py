"""Cases of the paper on strain parameterizations."""
