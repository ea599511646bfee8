# Rscript clients/r/numbers.R COUNTS TABLE ...: every estimate, a line each, to all digits: what tests compare.
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
source(file.path(folder, "R", "optldp.R"))
asked <- commandArgs(TRUE)
tables <- lapply(asked[-1], read_table)
counts <- read_counts(asked[1], tables)
told <- function(name, found) {
  for (part in c("value", "std_error", "low", "high")) {
    cat(name, part, sprintf("%.17g", found[[part]]), "\n")
  }
}
told("ua", mean_ua(counts))
told("uwa", mean_uwa(counts))
found <- if (length(tables) == 1) distribution_em(counts) else distribution_ule(counts)
told("mean", found$mean)
told("weights", found$weights)
