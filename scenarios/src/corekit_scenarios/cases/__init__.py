"""The functions that redo the papers' cases."""
