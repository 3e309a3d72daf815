"""What every package stands on: validation, typing, threads, files, and the base of estimators."""
