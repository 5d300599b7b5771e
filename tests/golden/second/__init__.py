"""A second decoder, written from the format descriptions alone; it shares no code with fabtap."""
