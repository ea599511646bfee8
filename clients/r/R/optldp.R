# Estimates from an exact table (optldp-table/2, JSON) and what `optldp count --out counts.csv` wrote; base R alone.
#
#   read_table(path)            a table
#   read_counts(path, tables)   how many users made which reports; one table, or a list with one for each service
#   mean_ua(counts)             the mean of decoded reports, those of one user averaged (UA)
#   mean_uwa(counts)            the same, a user's reports weighed by what they say of the value (UWA; biased)
#   distribution_em(counts)     the likeliest distribution on the knots, by one service's reports
#   distribution_ule(counts)    the same by the reports of several services together (ULE)
#
# Formulas are those of the Python library, in estimators/means and estimators/distributions.

DENOMINATOR <- 2^53
UNBIASED <- 1e-9 # bias at a knot, as a share of the domain, that counts as none
LEAST_SCALE <- 1e-9 # a mean that moves less with its input is constant but for rounding
RANK <- 1e-12 # singular values below this share of the largest are zero
LEAST_INFORMATION <- 1e-12 # in a direction, relative to the largest
CERTIFICATE <- 1e-11 # log-likelihood of a user that the likeliest weights may miss
MOST_STEPS <- 200L
BLOCK <- 4096L # combinations of outputs at a time
LARGEST_BUDGET <- 600 # of one user in all: likelihoods relative to the largest must not underflow
CODE_BITS <- 63L # of a code of several services' outputs
CHECKSUM <- "^sha256:[0-9a-f]{64}$"
IDENTIFIERS <- "^t[0-9a-f]{12}([+]t[0-9a-f]{12})*$" # of the tables of one row of counts

refuse <- function(...) stop(sprintf(...), call. = FALSE)

# ---- reading ----

TEXT <- '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"'
TOKEN <- paste0(TEXT, "|-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|[][{}:,]")
DEEPEST <- 16L

# The value of a JSON document; texts stay as they are written. Lists of numbers alone become vectors.
parse_json <- function(text) {
  found <- gregexpr(TOKEN, text, perl = TRUE, useBytes = TRUE)
  between <- regmatches(text, found, invert = TRUE)[[1]]
  tokens <- regmatches(text, found)[[1]]
  if (any(grepl("[^ \t\r\n]", between, useBytes = TRUE))) refuse("a table must be JSON, got other characters in it")
  at <- 0L
  take <- function() {
    if (at == length(tokens)) refuse("a table must be a whole JSON document, got one cut short: copy the file again")
    tokens[at <<- at + 1L]
  }
  members <- function(end, member) { # what stands between commas
    made <- list()
    if (at < length(tokens) && tokens[at + 1L] == end) {
      take()
      return(made)
    }
    repeat {
      made <- c(made, member())
      mark <- take()
      if (mark == end) return(made)
      if (mark != ",") refuse("JSON must have a comma or %s at its token %d, got something else", end, at)
    }
  }
  value <- function(depth) {
    if (depth > DEEPEST) refuse("JSON must be at most %d deep, got more", DEEPEST)
    token <- take()
    if (token == "[") {
      if (!is.null(found <- numbers())) return(found)
      return(members("]", function() list(value(depth + 1L))))
    }
    if (token == "{") {
      made <- members("}", function() {
        key <- take()
        if (substr(key, 1, 1) != '"' || take() != ":") refuse("JSON must have a key at its token %d, got none", at - 1L)
        stats::setNames(list(value(depth + 1L)), unquoted(key))
      })
      if (anyDuplicated(names(made))) refuse("JSON must have each key once, got one twice")
      return(made)
    }
    if (token %in% c("true", "false")) return(token == "true")
    if (token == "null") return(NULL)
    if (substr(token, 1, 1) == '"') return(unquoted(token))
    if (token %in% c("]", "}", ":", ",")) refuse("JSON must have a value at its token %d, got a mark", at)
    as.numeric(token)
  }
  closes <- which(tokens == "]")
  numbers <- function() { # up to the next "]", if there is nothing but numbers and commas
    end <- closes[findInterval(at, closes) + 1L]
    if (is.na(end) || (end - at) %% 2L != 0L) return(NULL)
    inside <- tokens[(at + 1L):(end - 1L)]
    odd <- c(TRUE, FALSE)
    if (!all(grepl("^[-0-9]", inside[odd])) || !all(inside[!odd] == ",")) return(NULL)
    at <<- end
    as.numeric(inside[odd])
  }
  made <- value(0L)
  if (at < length(tokens)) refuse("a table must be one JSON document, got more after it")
  made
}

unquoted <- function(token) substr(token, 2, nchar(token, "bytes") - 1)

# A table: knots (n), probabilities (n x m), the mean of a report of each output (m), and what it is known by.
read_table <- function(path) {
  if (!file.exists(path)) refuse("a table must be a file, got '%s', which is not there", path)
  text <- readBin(path, "raw", file.size(path))
  told <- parse_json(rawToChar(text))
  if (!identical(told$format, "optldp-table/2")) {
    refuse("a table must be of format optldp-table/2, got '%s': optldp design writes it", path)
  }
  checksum <- told$checksum
  if (!is.character(checksum) || !grepl(CHECKSUM, checksum)) { # a table is known by it
    refuse("a table must have a checksum, sha256: and 64 hexadecimal digits, got another or none in '%s'", path)
  }
  n <- length(told$knots)
  m <- length(told$low)
  numerators <- told$numerators
  rising <- n > 1 && is.numeric(told$knots) && !is.unsorted(told$knots, strictly = TRUE)
  if (!rising) refuse("knots must be rising numbers, got others in '%s'", path)
  if (!identical(told$denominator, DENOMINATOR) || length(numerators) != n || any(lengths(numerators) != m)) {
    refuse("numerators must be %d rows of %d numbers over 2^53, got others", n, m)
  }
  rows <- do.call(rbind, numerators)
  if (!is.numeric(rows) || any(rows < 0 | rows != floor(rows)) || any(rowSums(rows) != DENOMINATOR)) {
    refuse("each row of numerators must be whole numbers that sum to 2^53, got others")
  }
  infinite <- c("-inf" = -Inf, inf = Inf)
  ends <- lapply(told[c("low", "high")], vapply, function(end) if (is.numeric(end)) end else infinite[[end]], 0)
  prior <- told$prior$weights
  list(
    knots = told$knots, probabilities = rows / DENOMINATOR, means = output_means(ends$low, ends$high, told$within),
    importance = if (is.null(prior)) rep(1 / n, n) else prior, epsilon = told$epsilon, units = told$units,
    name = paste0("t", substr(checksum, 8, 19))
  )
}

output_means <- function(low, high, within) {
  if (within$kind == "uniform") return((low + high) / 2)
  if (within$kind != "geometric-tails") refuse("within must be uniform or geometric-tails, got '%s'", within$kind)
  beyond <- within$step * within$ratio / (1 - within$ratio)
  ifelse(is.finite(low), ifelse(is.finite(high), low, low + beyond), high - beyond)
}

# Counts: for each set of services that some user reported to, the outputs (R x J, from 0) and users of each row (R).
read_counts <- function(path, tables) {
  if (!is.null(tables$knots)) tables <- list(tables)
  if (!file.exists(path)) refuse("counts must be a file, got '%s', which is not there", path)
  told <- utils::read.csv(path, colClasses = "character", check.names = FALSE)
  if (!all(c("output", "n") %in% names(told))) refuse("counts must have the columns output and n, got '%s'", path)
  first <- tables[[1]]
  for (table in tables) {
    same <- identical(range(table$knots), range(first$knots)) && identical(table$units, first$units)
    if (!same) refuse("tables of services must have one domain and one unit, got others")
  }
  name <- paste(vapply(tables, function(table) table$name, ""), collapse = "+")
  wrong <- if (!is.null(told$table)) which(!grepl(IDENTIFIERS, told$table))
  if (length(wrong)) refuse("tables must be named by their identifiers, got another name in row %d of '%s'", wrong[1], path)
  if (!is.null(told$table) && any(told$table != name)) {
    refuse("counts must be of the tables given, %s, got %s in '%s'", name, told$table[told$table != name][1], path)
  }
  users <- suppressWarnings(as.numeric(told$n))
  if (!length(users) || !all(is.finite(users) & users >= 0 & users == floor(users))) {
    refuse("n must be whole numbers, got others in '%s'", path)
  }
  sizes <- vapply(tables, function(table) length(table$means), 0L)
  outputs <- if (length(tables) == 1) matrix(suppressWarnings(as.numeric(told$output))) else decoded(told, sizes)
  beyond <- is.na(outputs) | outputs < -1 | outputs != floor(outputs) | outputs >= rep(sizes, each = nrow(outputs))
  wrong <- which(rowSums(beyond) > 0)
  if (length(wrong)) refuse("outputs must be those of the tables, got another one in row %d of '%s'", wrong[1], path)
  rows <- which(users > 0 & rowSums(outputs >= 0) > 0)
  if (sum(users[rows]) < 2) refuse("users must be at least 2 for a standard error, got fewer in '%s'", path)
  silent <- colSums(outputs[rows, , drop = FALSE] >= 0) == 0
  if (any(silent)) refuse("every service must have reports, got none for number %d: leave it out", which(silent)[1])
  sets <- split(rows, apply(outputs[rows, , drop = FALSE] >= 0, 1, function(seen) paste(which(seen), collapse = " ")))
  groups <- lapply(sets, function(rows) {
    services <- which(outputs[rows[1], ] >= 0)
    list(services = services, outputs = outputs[rows, services, drop = FALSE] + 1, users = users[rows])
  })
  list(tables = tables, groups = groups, n = sum(users[rows]))
}

# Outputs of each service from codes of 63 bits in decimal digits: a field of each holds the output plus one.
decoded <- function(told, sizes) {
  widths <- floor(log2(sizes)) + 1
  word <- 1
  free <- CODE_BITS
  columns <- matrix(0, nrow(told), length(sizes))
  for (j in seq_along(sizes)) {
    if (widths[j] > free) {
      word <- word + 1
      free <- CODE_BITS
    }
    free <- free - widths[j]
    name <- if (word == 1) "output" else paste0("output_", word)
    if (is.null(told[[name]])) refuse("counts of these services must have the column %s, got none", name)
    bits <- bits_of(told[[name]])
    columns[, j] <- bits[, free + seq_len(widths[j]), drop = FALSE] %*% 2^(seq_len(widths[j]) - 1) - 1
  }
  columns
}

# The bits (R x 63), lowest first, of whole numbers too large for a double: divided by 2^21 seven digits at a time.
bits_of <- function(digits) {
  if (!all(grepl("^[0-9]{1,19}$", digits))) refuse("codes of outputs must be whole numbers, got others")
  padded <- paste0(strrep("0", 21 - nchar(digits)), digits)
  parts <- sapply(c(1, 8, 15), function(from) as.numeric(substr(padded, from, from + 6)))
  parts <- matrix(parts, ncol = 3)
  do.call(cbind, lapply(1:3, function(limb) {
    rest <- 0
    for (place in 1:3) {
      whole <- rest * 1e7 + parts[, place]
      parts[, place] <<- floor(whole / 2^21)
      rest <- whole %% 2^21
    }
    floor(outer(rest, 2^(0:20), "/")) %% 2
  }))
}

# ---- means ----

# One number for each output, unbiased at every knot and so between them.
plain_decoder <- function(table) {
  knots <- table$knots
  width <- diff(range(knots))
  bias <- drop(table$probabilities %*% table$means) - knots
  if (max(abs(bias)) <= UNBIASED * width) return(table$means)
  position <- (knots - knots[1]) - mean(knots - knots[1])
  slope <- sum(position * (bias - mean(bias))) / sum(position^2)
  scale <- 1 + slope
  missed <- max(abs(bias - mean(bias) - slope * position))
  if (abs(scale) < LEAST_SCALE || missed > UNBIASED * width * abs(scale)) return(optimal_decoder(table))
  (table$means - (mean(bias) - slope * mean(knots))) / scale
}

# Of all unbiased decoders the one of least variance on average: the solution of least norm of P W^-1/2 z = x.
optimal_decoder <- function(table) {
  average <- drop(table$importance %*% table$probabilities)
  used <- average > 0
  root <- sqrt(average[used])
  low <- min(table$knots)
  high <- max(table$knots)
  target <- ((table$knots - low) - (high - table$knots)) / (high - low)
  parts <- svd(sweep(table$probabilities[, used, drop = FALSE], 2, root, "/"))
  kept <- parts$d > RANK * parts$d[1]
  z <- parts$v[, kept] %*% (crossprod(parts$u[, kept], target) / parts$d[kept])
  missed <- parts$u %*% (parts$d * crossprod(parts$v, z)) - target
  if (max(abs(missed)) > 2 * UNBIASED) refuse("an unbiased mean must be possible, but no decoder fits this table")
  values <- numeric(length(average))
  values[used] <- (low + high) / 2 + (high - low) / 2 * drop(z) / root
  values
}

mean_ua <- function(counts, confidence = 0.95) {
  decoders <- lapply(counts$tables, plain_decoder)
  mean_of(counts, "ua", confidence, function(group) rowMeans(decoded_reports(group, decoders)))
}

# Every user's reports weighed by 1 / E[variance | all reports of that user], all knots being alike before these.
mean_uwa <- function(counts, confidence = 0.95) {
  knots <- common_knots(counts$tables)
  decoders <- lapply(counts$tables, plain_decoder)
  rows <- lapply(counts$tables, rows_at, knots)
  variances <- mapply(function(row, decoder) rowSums(row * outer(knots, decoder, "-")^2), rows, decoders)
  mean_of(counts, "uwa", confidence, function(group) {
    values <- decoded_reports(group, decoders)
    if (length(group$services) == 1) return(drop(values))
    budget <- sum(vapply(counts$tables[group$services], function(table) table$epsilon, 0))
    if (budget > LARGEST_BUDGET) refuse("a user's budgets must sum to at most %g, got %g", LARGEST_BUDGET, budget)
    blocks <- split(seq_len(nrow(values)), (seq_len(nrow(values)) - 1) %/% BLOCK)
    unlist(lapply(blocks, function(block) {
      likelihood <- likelihood_of(group$outputs[block, , drop = FALSE], rows[group$services])
      precision <- 1 / (likelihood %*% variances[, group$services])
      rowSums(values[block, , drop = FALSE] * precision) / rowSums(precision)
    }), use.names = FALSE)
  })
}

decoded_reports <- function(group, decoders) {
  columns <- lapply(seq_along(group$services), function(j) decoders[[group$services[j]]][group$outputs[, j]])
  do.call(cbind, columns)
}

mean_of <- function(counts, method, confidence, number_of) {
  values <- unlist(lapply(counts$groups, number_of), use.names = FALSE)
  users <- unlist(lapply(counts$groups, function(group) group$users), use.names = FALSE)
  n <- counts$n
  value <- sum(users * values) / n
  std_error <- sqrt(sum(users * (values - value)^2) / (n - 1) / n)
  estimate(value, std_error, n, method, confidence)
}

estimate <- function(value, std_error, n, method, confidence, least = -Inf, most = Inf) {
  if (!(confidence > 0 && confidence < 1)) refuse("confidence must lie between 0 and 1, got %g", confidence)
  reach <- -stats::qnorm((1 - confidence) / 2) * std_error
  ends <- lapply(list(low = value - reach, high = value + reach), function(end) pmin(pmax(end, least), most))
  c(list(value = value, std_error = std_error), ends, list(confidence = confidence, n = n, method = method))
}

# ---- distributions ----

# The likeliest weights of the knots. Standard errors and intervals are normal ones by the delta method: they measure
# scatter, not bias, and those of weights near zero are too short. `optldp estimate --of distribution` has intervals
# that hold.
distribution_em <- function(counts, confidence = 0.95) {
  services <- length(counts$tables)
  if (services > 1) refuse("distribution_em is for one service, got %d: take distribution_ule", services)
  likeliest(counts, "em", confidence)
}

distribution_ule <- function(counts, confidence = 0.95) likeliest(counts, "ule", confidence)

likeliest <- function(counts, method, confidence) {
  knots <- common_knots(counts$tables)
  rows <- lapply(counts$tables, rows_at, knots)
  parts <- lapply(counts$groups, function(group) likelihood_of(group$outputs, rows[group$services]))
  likelihood <- do.call(rbind, parts)
  shares <- unlist(lapply(counts$groups, function(group) group$users), use.names = FALSE) / counts$n
  weights <- likeliest_weights(likelihood, shares)
  covariance <- covariance_of(likelihood, shares, weights) / counts$n
  mean <- sum(knots * weights)
  centred <- knots - mean
  about <- list(counts$n, method, confidence)
  errors <- sqrt(pmax(diag(covariance), 0))
  each <- do.call(estimate, c(list(weights, errors), about, list(0, 1)))
  error <- sqrt(max(0, drop(centred %*% covariance %*% centred)))
  list(knots = knots, weights = each, mean = do.call(estimate, c(list(mean, error), about)))
}

# The knots of the finest table, which must have all others' knots.
common_knots <- function(tables) {
  finest <- tables[[which.max(vapply(tables, function(table) length(table$knots), 0L))]]$knots
  for (table in tables) {
    far <- vapply(table$knots, function(knot) min(abs(finest - knot)), 0) > 1e-9 * diff(range(finest))
    if (any(far)) refuse("the finest table must have all knots of the others, got none at %g", table$knots[far][1])
  }
  finest
}

# The probability of each output at each knot (K x m): between a table's own knots its rows are mixed.
rows_at <- function(table, knots) {
  left <- pmin(findInterval(knots, table$knots), length(table$knots) - 1)
  right <- (knots - table$knots[left]) / (table$knots[left + 1] - table$knots[left])
  (1 - right) * table$probabilities[left, , drop = FALSE] + right * table$probabilities[left + 1, , drop = FALSE]
}

# The probability of each combination of outputs at each knot (R x K), over the largest that each output has.
likelihood_of <- function(outputs, rows) {
  made <- 1
  for (j in seq_along(rows)) {
    largest <- apply(rows[[j]], 2, max)
    seen <- outputs[, j]
    if (any(largest[seen] == 0)) refuse("reports must be possible, got an output that no input gives")
    made <- made * t(rows[[j]][, seen, drop = FALSE]) / largest[seen]
  }
  made
}

# The largest sum_o shares_o log (L w)_o over weights that sum to one: a primal-dual interior point for the same sum
# less sum(w), whose maximum is on the simplex. No weights are better by more than log(max(gradient)).
likeliest_weights <- function(likelihood, shares) {
  size <- ncol(likelihood)
  weights <- rep(1 / size, size)
  slack <- rep(1, size)
  best <- NULL
  least <- Inf
  for (step in seq_len(MOST_STEPS)) {
    mixed <- drop(likelihood %*% weights)
    gradient <- drop(crossprod(likelihood, shares / mixed))
    if (max(gradient) - 1 < least) {
      least <- max(gradient) - 1
      best <- weights
    }
    if (least <= CERTIFICATE) break
    information <- crossprod(likelihood * (sqrt(shares) / mixed))
    barrier <- 0.1 * sum(weights * slack) / size
    root <- sqrt(weights / slack) # scaled by it the system is the identity and more, however small weights are
    pull <- root * (gradient - 1 + barrier / weights)
    change <- root * solve(root * t(root * information) + diag(size), pull)
    turn <- barrier / weights - slack - slack / weights * change
    reach <- function(from, to) min(1, 0.99 / max(-to / from, 0.99))
    weights <- weights + reach(weights, change) * change
    weights <- weights / sum(weights)
    slack <- slack + reach(slack, turn) * turn
  }
  if (least > CERTIFICATE) refuse("the likeliest distribution was not found: log-likelihood may miss %g a user", least)
  best
}

# The covariance of n times these weights, given a user's score: `maximum_covariance` of the library.
covariance_of <- function(likelihood, shares, weights) {
  mixed <- drop(likelihood %*% weights)
  gradient <- drop(crossprod(likelihood, shares / mixed))
  information <- crossprod(likelihood * (sqrt(shares) / mixed))
  root <- sqrt(weights)
  both <- outer(root, root)
  stiffness <- diag(pmax(1 - gradient, 0), length(root)) + both * information
  along <- drop(stiffness %*% root)
  stiffness <- stiffness - outer(along, root) - outer(root, along) + sum(root * along) * both + both
  parts <- eigen(stiffness, symmetric = TRUE)
  values <- pmax(parts$values, LEAST_INFORMATION * max(parts$values))
  inverse <- parts$vectors %*% (t(parts$vectors) / values)
  inverse <- inverse - outer(drop(inverse %*% root), root)
  response <- root * inverse * rep(root, each = length(root))
  response %*% (information - outer(gradient, gradient)) %*% t(response)
}
