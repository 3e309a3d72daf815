"""Tables and figures of the papers, with the baselines and data loaders that they need."""
