"""Rows with their class, weight and query, and how they are split and scored out of fold."""
