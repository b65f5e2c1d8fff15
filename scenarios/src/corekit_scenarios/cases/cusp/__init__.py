"""Cases of CUSP: a soft arm in contact, simulated and planned."""
