"""Cases of the vine robots' paper."""
