"""The verb `run`, its report and its progress."""
