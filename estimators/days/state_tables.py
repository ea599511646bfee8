"""The tables of the database that counts by day are kept in, and what becomes of each id of a batch."""

from ..reading.columns.simulated_columns import COUNTED, LATE

SCHEMA = """
CREATE TABLE IF NOT EXISTS known (name VARCHAR PRIMARY KEY, said VARCHAR);
CREATE TABLE IF NOT EXISTS ids (id VARCHAR, day VARCHAR, told UBIGINT);
CREATE TABLE IF NOT EXISTS counts (
    made VARCHAR, day VARCHAR, part VARCHAR, state VARCHAR, output VARCHAR, supports BIGINT, n BIGINT
);
"""

KNOWN, UNLIKE = "known", "unlike"
"""What becomes of an id that was counted before, with the same report and with another one."""

EACH = f"""
CREATE TEMP TABLE each AS
SELECT id, many, output, part, told, CASE WHEN day < {{first}} THEN {{today}} ELSE day END AS day, CASE
    WHEN differ OR before <> told THEN '{UNLIKE}'
    WHEN before IS NOT NULL THEN '{KNOWN}'
    WHEN day < {{first}} THEN '{LATE}'
    ELSE '{COUNTED}' END AS state
FROM (
    SELECT id, count(*) AS many, min(output) AS output, min(day) AS day, min(part) AS part, min(told) AS told,
        min(told) <> max(told) AS differ
    FROM (
        SELECT id, output, day, part, md5_number_lower(concat(output, '|', day, '|', part)) AS told FROM batch
        WHERE id IS NOT NULL
    )
    GROUP BY id
) LEFT JOIN (SELECT id, told AS before FROM ids) USING (id)
"""
"""Each id of a batch with its report, the day under which it counts, and its state. What came too late counts under the
day on which it came, and its id is kept as long as that day is open."""
