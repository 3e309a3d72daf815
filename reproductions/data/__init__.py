"""Loaders for the data sets of the experiments; nothing large ships with the package."""

from reproductions.data._home import data_file, data_home

__all__ = ["data_file", "data_home"]
