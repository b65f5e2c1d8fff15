"""The case that sets every model beside every contact solver and integrator."""
