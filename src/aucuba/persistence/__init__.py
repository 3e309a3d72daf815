"""Models on disk: saved and loaded without pickles."""

from aucuba.persistence._load import SavedModel, load_model
from aucuba.persistence._save import save_model

__all__ = ["SavedModel", "load_model", "save_model"]
