"""What a run leaves: records, statistics and a watchdog's findings; and reading, drawing and showing them."""
