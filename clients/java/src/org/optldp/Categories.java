package org.optldp;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.optldp.internal.Field;

/**
 * A mechanism for categories that is proved private, made by {@link CategoryReader}: draws reports, as docs/bundle-format.md of
 * optldp says. It is read only, so that threads may share one. No message holds a value.
 */
public final class Categories {
    /** Draws a report of a category's number. */
    interface Draw {
        String report(int code, Taken words);
    }

    /** How a category becomes a report. */
    static final class Oracle {
        final String reports; // what reports must have in common where several levels make them
        final long many; // different reports; of very many, some number above 2^32
        final int chosen; // categories of a set; 0 of bits, -1 of a number
        final int expected; // words
        final Draw draw;

        Oracle(String reports, long many, int chosen, int expected, Draw draw) {
            this.reports = reports;
            this.many = many;
            this.chosen = chosen;
            this.expected = expected;
            this.draw = draw;
        }
    }

    /** The budget that each report of a value spends; proved. */
    public final double epsilon;
    /** The mechanism's name in files of reports. */
    public final String identifier;
    /** The categories, in their order. */
    public final List<String> labels;
    private final Map<String, Integer> codes = new HashMap<>();
    final Oracle oracle;

    Categories(double epsilon, String identifier, List<String> labels, Oracle oracle) {
        this.epsilon = epsilon;
        this.identifier = identifier;
        this.labels = Collections.unmodifiableList(labels);
        this.oracle = oracle;
        for (int code = 0; code < labels.size(); code++) codes.put(labels.get(code), code);
    }

    /**
     * Draws a report of one of the categories, as files of reports hold it. Each draw of a value spends epsilon again.
     *
     * @throws IllegalArgumentException for what is none of the categories
     */
    public String report(String value) {
        int code = code(value);
        try (Taken words = new Taken(oracle.expected)) {
            return oracle.draw.report(code, words);
        }
    }

    /** The number of a category. */
    int code(String value) {
        Integer code = codes.get(value);
        if (code == null) {
            throw new IllegalArgumentException("the value must be one of the " + labels.size() + " categories, got another");
        }
        return code;
    }

    /** Whole outputs, by running sums of each category's row over 2^53. */
    static Oracle table(long[][] sums) {
        int many = sums[0].length;
        return new Oracle("table " + many, many, -1, 1, (code, words) -> {
            long word = words.share();
            int output = 0;
            for (int last = sums[code].length - 1; output < last; ) { // the first whose sum is above the word
                int middle = (output + last) / 2;
                if (sums[code][middle] <= word) output = middle + 1;
                else last = middle;
            }
            return Integer.toString(output);
        });
    }

    /** A bit for each category, one as often as own, in 2^53, at the own place, and as other elsewhere. */
    static Oracle unary(int size, long own, long other) {
        return new Oracle("unary", 1L << Math.min(size, 33), 0, size, (code, words) -> {
            byte[] bits = new byte[(size + 7) / 8];
            for (int place = 0; place < size; place++) {
                if (words.share() < (place == code ? own : other)) set(bits, place);
            }
            return hexadecimal(bits);
        });
    }

    /** A set of chosen categories, which holds the own one as often as own, in 2^53. */
    static Oracle subset(int size, int chosen, long own) {
        return new Oracle("subset " + chosen, sets(size, chosen), chosen, 1 + chosen, (code, words) -> {
            byte[] bits = new byte[(size + 7) / 8];
            boolean held = words.share() < own;
            int[] others = words.choices(size - 1, chosen); // counted on from the one after the own
            if (held) others[chosen - 1] = size - 1;
            for (int other : others) set(bits, (int) (((long) code + 1 + other) % size));
            return hexadecimal(bits);
        });
    }

    /** A seed, and the hash under it as often as own, in 2^53, or each other value as often as other. */
    static Oracle hash(Field field, int digits, long own, long other) {
        long seeds = (Field.power(field.size, digits) - 1) / (field.size - 1);
        return new Oracle("hash " + field.size, seeds * field.size, -1, 2, (code, words) -> {
            long seed = Long.remainderUnsigned(words.word(), seeds);
            long over = words.share() - own;
            long step = over < 0 ? 0 : 1 + over / other;
            return Long.toString(seed * field.size + (field.hashed(seed, code, digits) + step) % field.size);
        });
    }

    /** A point of so many entries, as often as own, in 2^53, one that supports the category. */
    static Oracle geometry(Field field, int length, long own) {
        long supporting = field.points(length - 1);
        return new Oracle("geometry " + field.size, field.points(length), -1, 3, (code, words) -> {
            boolean supported = words.share() < own;
            int on = words.below((int) supporting);
            int off = words.below((int) (field.points(length) - supporting));
            return Long.toString(point(field, length, code, supported, supported ? on : off));
        });
    }

    /** A point that supports a category or not: its other entries are those of a point's number, or the number's digits. */
    private static long point(Field field, int length, int code, boolean supported, long number) {
        int[] own = field.point(code, length);
        int[] others = supported ? field.point(number, length - 1) : new int[length - 1];
        for (int i = others.length - 1; i >= 0 && !supported; i--, number /= field.size) others[i] = (int) (number % field.size);
        int first = 0;
        while (own[first] == 0) first++;
        int[] vector = new int[length];
        System.arraycopy(others, 0, vector, 0, first);
        System.arraycopy(others, first, vector, first + 1, length - 1 - first);
        vector[first] = field.lacking(own, vector, supported ? 0 : 1);
        return field.number(vector);
    }

    /** How many sets of so many there are; of more than 2^32, some number above that. */
    static long sets(int size, int chosen) {
        if (chosen > size) return 0;
        long sets = 1;
        for (int i = 1; i <= Math.min(chosen, size - chosen) && sets <= 1L << 32; i++) sets = sets * (size - i + 1) / i;
        return sets;
    }

    /** A report's place among all: of bits as binary digits, of sets in the order of the words that their members make. */
    long place(String report) {
        if (oracle.chosen < 0) return Long.parseLong(report);
        long place = 0;
        int left = oracle.chosen;
        for (int i = 0; i < labels.size(); i++) {
            boolean one = (Character.digit(report.charAt(i / 4), 16) >> (3 - i % 4) & 1) == 1;
            if (oracle.chosen == 0) place = 2 * place + (one ? 1 : 0);
            else if (one) left--;
            else if (left > 0) place += sets(labels.size() - i - 1, left - 1); // those that hold this place instead come before
        }
        return place;
    }

    private static void set(byte[] bits, int place) {
        bits[place / 8] |= (byte) (1 << (7 - place % 8));
    }

    private static String hexadecimal(byte[] bits) {
        StringBuilder made = new StringBuilder(2 * bits.length);
        for (byte each : bits) made.append("0123456789abcdef".charAt(each >> 4 & 15)).append("0123456789abcdef".charAt(each & 15));
        return made.toString();
    }
}
