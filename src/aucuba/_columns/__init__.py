"""Column preparation: kinds of columns, categories, missing values, splines."""
