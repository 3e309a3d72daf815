"""Rows with their class, weight, query and group; their splits and out-of-fold scores."""
