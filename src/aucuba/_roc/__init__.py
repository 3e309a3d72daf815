"""The ROC curve below all families: samples, regions, rank weights, curves and placements."""
