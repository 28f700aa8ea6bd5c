"""A viewer in the browser: what it draws of a flight, where flights come from, and how they are controlled."""
