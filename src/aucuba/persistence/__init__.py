"""Models on disk: saved and loaded without pickles."""

from aucuba.persistence._load import load_model
from aucuba.persistence._names import trusted_types
from aucuba.persistence._save import save_model
from aucuba.persistence._saved_model import SavedModel

__all__ = ["SavedModel", "load_model", "save_model", "trusted_types"]
