# Randomised response between two knots, whose estimates have closed forms.
library(optldp)

rows <- c("[6755399441055744, 2251799813685248]", "[2251799813685248, 6755399441055744]") # 3/4 and 1/4 of 2^53
file <- tempfile(fileext = ".json")
table_of <- function(rows, checksum = strrep("0", 64)) {
  writeLines(paste0(
    '{"format": "optldp-table/2", "checksum": "sha256:', checksum, '", "units": "hours", "epsilon": 1.1,',
    '"knots": [0, 10], "low": [-5, 15], "high": [-5, 15], "within": {"kind": "uniform"},',
    '"denominator": 9007199254740992, "numerators": [', paste(rows, collapse = ", "), "]}"
  ), file)
  read_table(file)
}
counts_of <- function(table, ...) {
  path <- tempfile(fileext = ".csv")
  writeLines(c("output,n", ...), path)
  read_counts(path, table)
}
refused <- function(expression, says) {
  message <- tryCatch({
    expression
    ""
  }, error = conditionMessage)
  stopifnot(grepl(says, message, fixed = TRUE))
}

counts <- counts_of(table_of(rows), "0,700", "1,300")
mean <- mean_ua(counts) # of 700 reports at -5 and 300 at 15
stopifnot(all.equal(mean$value, 1), all.equal(mean$std_error, 20 * sqrt(0.3 * 0.7 / 999)))
stopifnot(all.equal(mean$high, 1 + qnorm(0.975) * mean$std_error), mean$n == 1000)
stopifnot(all.equal(mean_uwa(counts)$value, mean$value)) # one report of each user has nothing to be weighed against
found <- distribution_em(counts) # 1/4 + w / 2 = 0.3 has w = 0.1
stopifnot(all.equal(found$weights$value, c(0.9, 0.1)), all.equal(found$mean$value, 1))
stopifnot(all.equal(found$weights$std_error[2], sqrt(0.3 * 0.7 / 1000) / 0.5))
stopifnot(identical(distribution_ule(counts)$weights$value, found$weights$value))
certain <- distribution_em(counts_of(table_of(rows), "0,800", "1,200"))$weights # fewer ones than noise alone makes
stopifnot(all.equal(certain$value, c(1, 0)), all.equal(certain$low[2], 0), certain$high[1] <= 1)

refused(table_of(rev(rows[1])), "numerators must be 2 rows")
refused(table_of(sub("2251", "2252", rows)), "sum to 2^53")
refused(table_of(rows, "x"), "must have a checksum")
refused(counts_of(table_of(rows), "0,700", "2,300"), "another one in row 2")
refused(counts_of(table_of(rows), "0,1"), "at least 2")
refused(mean_ua(counts, confidence = 1), "confidence must lie between 0 and 1")
