"""Models on disk: saved and loaded without pickles."""

from aucuba.persistence._model_file import SavedModel, load_model, save_model

__all__ = ["SavedModel", "load_model", "save_model"]
