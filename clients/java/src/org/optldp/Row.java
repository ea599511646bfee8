package org.optldp;

import java.math.BigInteger;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Locale;

/**
 * A report as it is collected (docs/report-format.md of optldp): the table's name, the output's number, the day in UTC, and
 * fresh randomness that says nothing of user or value. One that is sent again must be the same row.
 */
public record Row(String table, int output, String day, String reportId) {
    private static final int BYTES = 16; // of an id

    static Row of(Table table, int output) {
        byte[] id = new byte[BYTES];
        try {
            Table.words.fill(id);
            String day = LocalDate.now(ZoneOffset.UTC).toString();
            return new Row(table.identifier, output, day, String.format(Locale.ROOT, "%032x", new BigInteger(1, id)));
        } finally {
            Arrays.fill(id, (byte) 0);
        }
    }

    /** JSON, as collectors take it; nothing in it has characters that JSON escapes. */
    @Override
    public String toString() {
        return "{\"table\": \"" + table + "\", \"output\": " + output + ", \"day\": \"" + day + "\", \"report_id\": \""
                + reportId + "\"}";
    }
}
