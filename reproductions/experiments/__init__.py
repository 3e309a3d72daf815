"""Tables and figures of the papers, one module each: ``python -m reproductions.experiments.<name>``."""
