"""Foundations of every package: validation, typing, threads, files, and the base of estimators."""
