"""One body: its model, inputs and places in the stacked vectors, and its rows and terms of the step equation."""
