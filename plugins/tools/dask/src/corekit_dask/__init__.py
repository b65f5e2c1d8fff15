"""Many runs over a cluster: see `corekit_dask.clusters`."""
