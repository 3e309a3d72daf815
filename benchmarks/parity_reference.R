# Values of pROC, ROCR and base R on the rows that benchmarks/parity.py writes; prints name,value lines.
suppressMessages({library(pROC); library(ROCR)})
folder <- commandArgs(trailingOnly = TRUE)[1]
say <- function(name, value) cat(sprintf("%s,%.17g\n", name, value))
for (kind in c("plain", "ties")) {
  rows <- read.csv(file.path(folder, paste0(kind, ".csv")))
  named <- function(name) paste(name, kind)
  a <- roc(rows$y, rows$a, levels = c(0, 1), direction = "<", quiet = TRUE)
  b <- roc(rows$y, rows$b, levels = c(0, 1), direction = "<", quiet = TRUE)
  say(named("pROC auc"), as.numeric(auc(a)))
  say(named("pROC partial auc 0.9-1"), as.numeric(auc(a, partial.auc = c(1, 0.9))))
  say(named("pROC partial auc corrected"), as.numeric(auc(a, partial.auc = c(1, 0.9), partial.auc.correct = TRUE)))
  ci <- as.numeric(ci.auc(a, method = "delong"))
  say(named("pROC ci low"), ci[1])
  say(named("pROC ci high"), ci[3])
  say(named("pROC delong p"), roc.test(a, b, method = "delong", paired = TRUE)$p.value)
  at <- coords(a, 1, input = "threshold", ret = c("sensitivity", "specificity", "ppv", "npv"))
  for (one in names(at)) say(named(paste("pROC coords", one)), at[[one]])
  say(named("pROC youden"), max(coords(a, "all", ret = "youden")$youden) - 1)
  p <- prediction(rows$a, rows$y)
  of <- function(...) performance(p, ...)@y.values[[1]]
  at1 <- function(values) { cut <- p@cutoffs[[1]]; values[max(which(cut >= 1))] }
  say(named("ROCR f at 1"), at1(performance(p, "f", alpha = 0.5)@y.values[[1]]))
  say(named("ROCR best f"), max(of("f"), na.rm = TRUE))
  say(named("ROCR cost at 1"), at1(of("cost", cost.fp = 1, cost.fn = 5)))
  say(named("ROCR lift at 1"), at1(of("lift")))
  say(named("ROCR rec at 1"), at1(of("rec")))
  say(named("ROCR prec at 1"), at1(of("prec")))
  say(named("ROCR rpp at 1"), at1(of("rpp")))
  # Net benefit as published (Vickers and Elkin 2006), and with the prevalence of a case-control study.
  for (t in c(0.1, 0.2, 0.4)) {
    flagged <- rows$risk >= t
    n <- nrow(rows)
    say(named(paste("R net benefit", t)), sum(flagged & rows$y == 1) / n - sum(flagged & rows$y == 0) / n * t / (1 - t))
    tpr <- mean(flagged[rows$y == 1]); fpr <- mean(flagged[rows$y == 0])
    say(named(paste("R net benefit 0.05", t)), tpr * 0.05 - fpr * 0.95 * t / (1 - t))
    say(named(paste("R standardised net benefit", t)), tpr - fpr * (1 - mean(rows$y)) / mean(rows$y) * t / (1 - t))
  }
  k <- suppressWarnings(ks.test(rows$a[rows$y == 1], rows$a[rows$y == 0]))
  say(named("R ks.test"), as.numeric(k$statistic))
}
