"""Tables of numbers, categories and dates for linear models, in memory or on Dask."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from aucuba._base._estimator import all_or_nothing
from aucuba._base._typing import AnyArray, IntArray
from aucuba._base._validation import as_table, is_of_dask
from aucuba._columns._block_facts import linear_columns_of_blocks
from aucuba._columns._table_columns import Columns


class ColumnPreparer(TransformerMixin, BaseEstimator):
    """Turn numbers, categories, dates and missing values into columns for a linear model.

    - Numbers get mean 0 and variance 1; missing ones become the median, with an indicator.
    - Categories (text, and pandas' categorical type) get an indicator per category that ten rows or
      more have, one for all rarer ones, which later unknown ones join, and one for missing values.
    - Dates, also as ISO 8601 text, become elapsed days; year, month, weekday and hour are added as far
      as training covers a full cycle. Elapsed days and years are clipped to the range of training.

    `RegionStack` and ``aucuba fit`` prepare columns in the same way. Of a Dask DataFrame the rows
    stay in their blocks, and a few passes learn the same preparation as in memory, up to rounding.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only for tables with names.

    See Also
    --------
    PartialAUCClassifier : Takes the prepared columns, also from Dask.

    Examples
    --------
    >>> import pandas as pd
    >>> from aucuba import ColumnPreparer
    >>> rows = pd.DataFrame({"age": [30.0, None, 50.0] * 10, "city": ["Rome", "Oslo", "Rome"] * 10})
    >>> preparer = ColumnPreparer().fit(rows)
    >>> preparer.get_feature_names_out().tolist()
    ['age', 'missingindicator_age', 'city_Oslo', 'city_Rome']
    >>> preparer.transform(rows).shape
    (30, 4)
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> ColumnPreparer:
        """Learn kinds of columns, categories, medians and scales.

        Parameters
        ----------
        X : {array-like, dataframe, Dask array, Dask dataframe} of shape (n_samples, n_features)
            Every pass over a Dask collection reads its blocks: three, and one per eight columns of
            numbers and dates, whose values are gathered for their medians.
        y : object, default=None
            Ignored.

        Returns
        -------
        ColumnPreparer
            This transformer, fitted.
        """
        X = self._checked(X, reset=True)
        if is_of_dask(X):
            from aucuba.design import DaskBlocks

            self.columns_ = linear_columns_of_blocks(DaskBlocks(X).run)
        else:
            found = Columns.from_table(X)
            self.columns_ = found.for_linear(None, sparse=True)[0].fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Prepare the columns of a table.

        Parameters
        ----------
        X : {array-like, dataframe, Dask array, Dask dataframe} of shape (n_samples, n_features)
            The columns of training, in their order.

        Returns
        -------
        {ndarray, csr_matrix} of shape (n_samples, n_features_out)
            Sparse where less than 30 % of the training rows' entries are not zero; of a Dask
            collection a lazy Dask array of such blocks.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if not is_of_dask(X):
            return self.columns_.transform(X)
        from aucuba.design import DaskBlocks

        prepare = partial(type(self.columns_).transform, self.columns_)
        width = len(self.columns_.get_feature_names_out())
        return DaskBlocks.mapped(X, prepare, width, sparse=self.columns_.encode_.sparse_output_)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of the result.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        ndarray of str
            Such as ``age``, ``missingindicator_age`` and ``city_Rome``.
        """
        check_is_fitted(self)
        return self.columns_.get_feature_names_out()

    def source_columns(self) -> IntArray:
        """Return the column of the table that each column of the result is made of.

        These are ``feature_groups`` of `PartialAUCClassifierCV`: with them the indicators of a category
        enter a model together, and count as one.

        Returns
        -------
        ndarray of int, of the length of the result's rows
            Such as 0, 0, 1, 1 for ``age``, ``missingindicator_age``, ``city_Oslo`` and ``city_Rome``.
        """
        check_is_fitted(self)
        return self.columns_.source_columns()

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Store or compare the number and names of the columns; check arrays as scikit-learn does."""
        if is_of_dask(X):
            from aucuba.design import DaskBlocks

            validate_data(self, DaskBlocks.columns_of(X), reset=reset, skip_check_array=True)
            return X
        X = as_table(X)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
