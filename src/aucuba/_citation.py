"""BibTeX of the papers behind the methods.

A test holds ``CITATION.cff`` and the bibliography of the documentation to these entries.
"""

from __future__ import annotations

from aucuba._base._validation import check_choice

_BIBTEX = {
    "partial_auc": """\
@inproceedings{narasimhan2013structural,
  title = {A structural {SVM} based approach for optimizing partial {AUC}},
  author = {Narasimhan, Harikrishna and Agarwal, Shivani},
  booktitle = {Proceedings of the 30th International Conference on Machine Learning},
  year = {2013},
}""",
    "full_auc": """\
@inproceedings{joachims2005support,
  title = {A support vector method for multivariate performance measures},
  author = {Joachims, Thorsten},
  booktitle = {Proceedings of the 22nd International Conference on Machine Learning},
  year = {2005},
}""",
    "binned_auc": """\
@inproceedings{rosenfeld2014learning,
  title = {Learning structured models with the {AUC} loss and its generalizations},
  author = {Rosenfeld, Nir and Meshi, Ofer and Tarlow, Danny and Globerson, Amir},
  booktitle = {Proceedings of the 17th International Conference on Artificial Intelligence and
               Statistics},
  year = {2014},
}""",
    "aum": """\
@article{hillman2023optimizing,
  title = {Optimizing {ROC} curves with a sort-based surrogate loss for binary classification and
           changepoint detection},
  author = {Hillman, Jonathan and Hocking, Toby Dylan},
  journal = {Journal of Machine Learning Research},
  volume = {24},
  number = {70},
  pages = {1--24},
  year = {2023},
}""",
    "aum_line_search": """\
@misc{fowler2024efficient,
  title = {Efficient line search for optimizing area under the {ROC} curve in gradient descent},
  author = {Fowler, Jadon and Hocking, Toby Dylan},
  howpublished = {Preprint},
  year = {2024},
}""",
    "false_discovery": """\
@article{bates2023testing,
  title = {Testing for outliers with conformal p-values},
  author = {Bates, Stephen and Cand{\\`e}s, Emmanuel and Lei, Lihua and Romano, Yaniv and
            Sesia, Matteo},
  journal = {The Annals of Statistics},
  volume = {51},
  number = {1},
  pages = {149--178},
  year = {2023},
}""",
    "audit": """\
@article{waudbysmith2024estimating,
  title = {Estimating means of bounded random variables by betting},
  author = {Waudby-Smith, Ian and Ramdas, Aaditya},
  journal = {Journal of the Royal Statistical Society B},
  volume = {86},
  number = {1},
  pages = {1--27},
  year = {2024},
}""",
    "bundle": """\
@article{franc2009optimized,
  title = {Optimized cutting plane algorithm for large-scale risk minimization},
  author = {Franc, Vojt{\\v{e}}ch and Sonnenburg, S{\\"o}ren},
  journal = {Journal of Machine Learning Research},
  volume = {10},
  pages = {2157--2192},
  year = {2009},
}""",
}


def citation(*methods: str) -> str:
    """Return the BibTeX entries of the papers behind the named methods, or of all.

    Parameters
    ----------
    *methods : str
        Any of "partial_auc", "full_auc", "binned_auc", "aum", "aum_line_search", "false_discovery",
        "audit" and "bundle".

    Returns
    -------
    str
        BibTeX entries, one after another.

    Examples
    --------
    >>> import aucuba
    >>> print(aucuba.citation("full_auc"))
    @inproceedings{joachims2005support,
      title = {A support vector method for multivariate performance measures},
      author = {Joachims, Thorsten},
      booktitle = {Proceedings of the 22nd International Conference on Machine Learning},
      year = {2005},
    }
    """
    names = [check_choice(method, "method", list(_BIBTEX)) for method in methods] or list(_BIBTEX)
    return "\n\n".join(_BIBTEX[name] for name in names)
