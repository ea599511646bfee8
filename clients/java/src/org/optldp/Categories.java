package org.optldp;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A mechanism for categories that is proved private, made by {@link CategoryReader}: draws reports, as docs/bundle-format.md of
 * optldp says. It is read only, so that threads may share one. No message holds a value.
 */
public final class Categories {
    /** Draws a report of a category's number. */
    interface Oracle {
        String draw(int code);
    }

    /** The budget that each report of a value spends; proved. */
    public final double epsilon;
    /** The mechanism's name in files of reports. */
    public final String identifier;
    /** The categories, in their order. */
    public final List<String> labels;
    private final Map<String, Integer> codes = new HashMap<>();
    private final Oracle oracle;

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
        Integer code = codes.get(value);
        if (code == null) {
            throw new IllegalArgumentException("the value must be one of the " + labels.size() + " categories, got another");
        }
        return oracle.draw(code);
    }

    /** Whole outputs, by running sums of each category's row over 2^53. */
    static Oracle table(long[][] sums) {
        return code -> {
            try (Taken words = new Taken(1)) {
                long word = words.share();
                int output = 0;
                for (int last = sums[code].length - 1; output < last; ) { // the first whose sum is above the word
                    int middle = (output + last) / 2;
                    if (sums[code][middle] <= word) output = middle + 1;
                    else last = middle;
                }
                return Integer.toString(output);
            }
        };
    }

    /** A bit for each category, one as often as own, in 2^53, at the own place, and as other elsewhere. */
    static Oracle unary(int size, long own, long other) {
        return code -> {
            byte[] bits = new byte[(size + 7) / 8];
            try (Taken words = new Taken(size)) {
                for (int place = 0; place < size; place++) {
                    if (words.share() < (place == code ? own : other)) set(bits, place);
                }
            }
            return hexadecimal(bits);
        };
    }

    /** A set of chosen categories, which holds the own one as often as own, in 2^53. */
    static Oracle subset(int size, int chosen, long own) {
        return code -> {
            byte[] bits = new byte[(size + 7) / 8];
            try (Taken words = new Taken(1 + chosen)) {
                boolean held = words.share() < own;
                int[] others = words.choices(size - 1, chosen); // counted on from the one after the own
                if (held) others[chosen - 1] = size - 1;
                for (int other : others) set(bits, (int) (((long) code + 1 + other) % size));
            }
            return hexadecimal(bits);
        };
    }

    /** A seed, and the hash under it as often as own, in 2^53, or each other value as often as other. */
    static Oracle hash(Field field, int digits, long own, long other) {
        long seeds = (Field.power(field.size, digits) - 1) / (field.size - 1);
        return code -> {
            try (Taken words = new Taken(2)) {
                long seed = Long.remainderUnsigned(words.word(), seeds);
                long over = words.share() - own;
                long step = over < 0 ? 0 : 1 + over / other;
                return Long.toString(seed * field.size + (field.hashed(seed, code, digits) + step) % field.size);
            }
        };
    }

    /** A point of so many entries, as often as own, in 2^53, one that supports the category. */
    static Oracle geometry(Field field, int length, long own) {
        long supporting = field.points(length - 1);
        return code -> {
            try (Taken words = new Taken(3)) {
                boolean supported = words.share() < own;
                int on = words.below((int) supporting);
                int off = words.below((int) (field.points(length) - supporting));
                return Long.toString(point(field, length, code, supported, supported ? on : off));
            }
        };
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

    private static void set(byte[] bits, int place) {
        bits[place / 8] |= (byte) (1 << (7 - place % 8));
    }

    private static String hexadecimal(byte[] bits) {
        StringBuilder made = new StringBuilder(2 * bits.length);
        for (byte each : bits) made.append("0123456789abcdef".charAt(each >> 4 & 15)).append("0123456789abcdef".charAt(each & 15));
        return made.toString();
    }
}
