package org.optldp;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * A table that is proved private, made by {@link TableReader}: draws reports, as docs/table-format.md of optldp says. It is
 * read only, so that threads may share one. No message holds a value.
 */
public final class Table {
    static final long WHOLE = 1L << 53;
    private static final ThreadLocal<SecureRandom> GENERATOR = ThreadLocal.withInitial(SecureRandom::new);

    /** The sum of the numerators of a row up to and with an output. */
    interface Sums {
        long until(int row, int output);
    }

    /** Random words of 64 bits; the conformance vectors put given ones in the generator's place. */
    interface Words {
        void fill(byte[] bytes);
    }

    static Words words = bytes -> GENERATOR.get().nextBytes(bytes);

    /** Name of the units of the knots. */
    public final String units;
    /** The budget that each report of a value spends; proved. */
    public final double epsilon;
    /** The table's name in files of reports. */
    public final String identifier;
    /** The number of outputs. */
    public final int outputs;
    final double[] knots;
    final double[] low;
    final double[] high;
    final Sums sums;
    private final double[] hidden; // points inside cells, rising
    private final double[] refuges; // where a report of a cell that equals one goes
    private final double step; // of geometric tails
    private final long[] odds; // how often, in 2^53, each binary digit of a number of steps is one

    Table(String units, double epsilon, String identifier, double[] knots, Outputs outputs, Sums sums) {
        this.units = units;
        this.epsilon = epsilon;
        this.identifier = identifier;
        this.knots = knots;
        this.outputs = outputs.low.length;
        this.low = outputs.low;
        this.high = outputs.high;
        this.sums = sums;
        this.hidden = outputs.hidden;
        this.refuges = outputs.refuges;
        this.step = outputs.step;
        this.odds = outputs.odds;
    }

    /** Where the domain begins. */
    public double first() {
        return knots[0];
    }

    /** Where the domain ends. */
    public double last() {
        return knots[knots.length - 1];
    }

    /**
     * Draws the number of an output, from 0. Each draw of a value spends epsilon again.
     *
     * @throws IllegalArgumentException for what is no number of the domain
     */
    public int index(double value) {
        requireInside(value);
        byte[] drawn = new byte[16];
        try {
            words.fill(drawn);
            return output(value, drawn);
        } finally {
            Arrays.fill(drawn, (byte) 0);
        }
    }

    /**
     * Draws a report, in the units of the table. Each draw of a value spends epsilon again.
     *
     * @throws IllegalArgumentException for what is no number of the domain
     */
    public double report(double value) {
        requireInside(value);
        byte[] drawn = new byte[16 + 8 * Math.max(1, odds.length)];
        try {
            words.fill(drawn);
            return reportOf(output(value, drawn), drawn);
        } finally {
            Arrays.fill(drawn, (byte) 0);
        }
    }

    /**
     * Draws an output as a row to send. Each draw of a value spends epsilon again.
     *
     * @throws IllegalArgumentException for what is no number of the domain
     */
    public Row row(double value) {
        return Row.of(this, index(value));
    }

    /** Draws an output by the next words; the value is in the domain. */
    int index(double value, Taken words) {
        byte[] drawn = new byte[16];
        try {
            words.copy(drawn, 0, 2);
            return output(value, drawn);
        } finally {
            Arrays.fill(drawn, (byte) 0);
        }
    }

    /** Draws a report by as many of the next words as it needs; the value is in the domain. */
    double report(double value, Taken words) {
        byte[] drawn = new byte[16 + 8 * Math.max(1, odds.length)];
        try {
            words.copy(drawn, 0, 2);
            int j = output(value, drawn);
            words.copy(drawn, 2, odds.length == 0 ? (hasCells() ? 1 : 0) : low[j] < high[j] ? odds.length : 0);
            return reportOf(j, drawn);
        } finally {
            Arrays.fill(drawn, (byte) 0);
        }
    }

    private boolean hasCells() {
        for (int j = 0; j < outputs; j++) {
            if (low[j] < high[j]) return true;
        }
        return false;
    }

    void requireInside(double value) {
        if (!(value >= first() && value <= last())) {
            throw new IllegalArgumentException("the value must be a number from " + first() + " to " + last() + ", got another");
        }
    }

    /** The upper bits of a random word. */
    static long take(byte[] drawn, int word, int bits) {
        long whole = 0;
        for (int i = 7; i >= 0; i--) whole = whole << 8 | (drawn[8 * word + i] & 0xffL);
        return whole >>> (64 - bits);
    }

    private int output(double value, byte[] drawn) {
        int k = 0;
        for (int left = knots.length - 1; left > 1; ) { // the last knot at or below the value is among k .. k + left - 1
            int half = left / 2;
            if (knots[k + half] <= value) k += half;
            left -= half;
        }
        long weight = (long) Math.rint((value - knots[k]) / (knots[k + 1] - knots[k]) * WHOLE); // ties to even
        int row = take(drawn, 0, 53) < weight ? k + 1 : k;
        long place = take(drawn, 1, 53);
        int j = 0;
        for (int left = outputs; left > 1; ) { // the first output whose sum is above the word is among j .. j + left - 1
            int half = left / 2;
            if (sums.until(row, j + half - 1) <= place) j += half;
            left -= half;
        }
        return j;
    }

    private double reportOf(int j, byte[] drawn) {
        if (low[j] == high[j]) return low[j];
        if (odds.length == 0) {
            double inside = low[j] + (high[j] - low[j]) * ((2 * take(drawn, 2, 52) + 1) / (double) WHOLE);
            double report = Math.min(inside, Math.nextDown(high[j])) + 0.0;
            int point = Arrays.binarySearch(hidden, report);
            return point >= 0 ? refuges[point] : report;
        }
        double steps = 0.0;
        for (int i = 0; i < odds.length; i++) {
            if (take(drawn, 2 + i, 53) < odds[i]) steps += Math.scalb(1.0, i);
        }
        return Double.isInfinite(low[j]) ? high[j] - steps * step : low[j] + steps * step;
    }
}
