"""Runs as xarray trees and pandas tables, and as files for other programs."""
