"""Line searches, segmentations, stored states and killed workers: cases tried, and cases wrong.

The cases are those of ``tests/hostile/searches.py`` and ``tests/hostile/clusters.py``, each from its
own seed. Counts are kept in ``results/hostile_searches.json``; ``--only`` runs some rows again.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.hostile_numbers import wrong_cases
from reproductions.tables import markdown_table, write_signed
from tests.hostile import clusters, searches

RESULT = Path(__file__).parent / "results" / "hostile_searches.md"
RECORD = RESULT.with_suffix(".json")
CASES = {
    "lines": ("first minimum of AUM and greatest AUC on a line", searches.check_line_search, 3_000),
    "segments": (
        "segmentations of all sizes and for a penalty",
        searches.check_segmentation,
        5_000,
    ),
    "states": ("texts of monitors and ledgers with changed entries", searches.check_state, 20_000),
    "workers": ("fits on a Dask cluster of which a worker is killed", clusters.check_killed, 40),
}


def main() -> None:
    """Run the cases of some rows and write the table of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=tuple(CASES), default=tuple(CASES))
    found = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for name in parser.parse_args().only:
        words, check, n_cases = CASES[name]
        if name == "workers":
            logging.disable(logging.CRITICAL)
            with clusters.local_cluster() as cluster:
                wrong = wrong_cases(partial(check, cluster), n_cases)
        else:
            wrong = wrong_cases(check, n_cases)
        found[name] = [words, f"{n_cases:,}", len(wrong)]
        RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    rows = [found[name] for name in CASES if name in found]
    text = f"""# Hostile line searches, segmentations, states and clusters

Seeds 0, 1, ... of the generators in `tests/hostile`. Lines: errors of two to four examples that go up
and down, against all meetings of thresholds in fractions. Segmentations: up to nine samples with ties,
spikes, copies and values far from zero, against all ways to cut them. Texts: entries of any depth
replaced, characters inserted; a text is refused in one kind of words, or the monitor goes on like any
other. Workers: one of two is killed before or during a random pass; the model must be that of a fit
without the loss, or the fit end in one error that leaves the estimator as it was.

{markdown_table(["cases", "tried", "wrong"], rows)}

Found by these searches, and mended: `losses` of sizes that `min_size` makes worse were those of the
size before; a day or a wait of 2**70 days in the text of a monitor ended in another error at the next
update.
"""
    write_signed(RESULT, text, "benchmarks hostile_searches")


if __name__ == "__main__":
    main()
