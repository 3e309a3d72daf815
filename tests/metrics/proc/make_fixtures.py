"""Write rows of our own and pROC's answers to them (needs R with pROC; Debian: r-cran-proc).

python tests/metrics/proc/make_fixtures.py
"""

import json
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
R = r"""
suppressMessages(library(pROC))
rows <- read.csv("rows.csv")
make <- function(y, s) roc(y, s, direction = "<", levels = c(0, 1), quiet = TRUE)
answers <- list()
for (case in unique(rows$case)) {
  d <- rows[rows$case == case, ]
  a <- make(d$y, d$a)
  b <- make(d$y, d$b)
  half <- d[d$part == 1, ]
  rest <- d[d$part == 2, ]
  first <- make(half$y, half$a)
  second <- make(rest$y, rest$b)
  limits <- c(1 - d$low[1], 1 - d$high[1])
  paired <- roc.test(a, b, method = "delong", paired = TRUE)
  apart <- roc.test(first, second, method = "delong", paired = FALSE)
  ci <- as.numeric(ci.auc(a, method = "delong"))
  answers[[case]] <- list(
    auc = as.numeric(auc(a)),
    low = ci[1], high = ci[3],
    partial = as.numeric(auc(a, partial.auc = limits)),
    corrected = as.numeric(auc(a, partial.auc = limits, partial.auc.correct = TRUE)),
    paired_p = paired$p.value, apart_p = apart$p.value)
}
out <- sapply(names(answers), function(n) paste0('"', n, '": {', paste(
  sprintf('"%s": %.17g', names(answers[[n]]), unlist(answers[[n]])), collapse = ", "), "}"))
cat("{\n", paste(out, collapse = ",\n"), "\n}\n", sep = "")
"""


def main():
    lines = ["case,y,a,b,part,low,high"]
    for number, (n_pos, n_neg, decimals, low, high) in enumerate(
        [
            (30, 80, 9, 0.0, 0.1),
            (40, 60, 1, 0.0, 0.2),
            (50, 200, 9, 0.05, 0.3),
            (25, 25, 0, 0.1, 1.0),
        ]
    ):
        rng = np.random.default_rng(number)
        y = np.repeat([1, 0], [n_pos, n_neg])
        a = np.round(rng.normal(size=y.size) + y, decimals)
        b = np.round(a + rng.normal(size=y.size), decimals)
        part = 1 + np.arange(y.size) % 2
        lines += [
            f"case{number},{y[i]},{a[i]:.9g},{b[i]:.9g},{part[i]},{low},{high}"
            for i in range(y.size)
        ]
    (HERE / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = subprocess.run(
        ["Rscript", "-e", R], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout
    (HERE / "answers.json").write_text(
        json.dumps(json.loads(found), indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
