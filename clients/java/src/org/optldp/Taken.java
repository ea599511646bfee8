package org.optldp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Random words one by one, asked for together: as many as a draw needs, and again where some are drawn again. */
final class Taken implements AutoCloseable {
    private static final int MOST_AT_ONCE = 4096;
    private final byte[] held;
    private int next;

    Taken(int expected) {
        held = new byte[8 * Math.min(expected, MOST_AT_ONCE)];
        next = held.length / 8; // none of them is drawn yet
    }

    long word() {
        if (next == held.length / 8) {
            Table.words.fill(held);
            next = 0;
        }
        return Table.take(held, next++, 64);
    }

    /** Puts so many words into bytes, from a word's place on. */
    void copy(byte[] to, int place, int many) {
        ByteBuffer bytes = ByteBuffer.wrap(to).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < many; i++) bytes.putLong(8 * (place + i), word());
    }

    /** A whole number of 53 bits. */
    long share() {
        return word() >>> 11;
    }

    /** One word. */
    static long one() {
        try (Taken words = new Taken(1)) {
            return words.word();
        }
    }

    /** A whole number below a bound; words that would favour some are drawn again. */
    int below(int bound) {
        return (int) below((long) bound);
    }

    long below(long bound) {
        long rest = (Long.remainderUnsigned(-1L, bound) + 1) % bound; // of 2^64
        long word = word();
        while (rest != 0 && Long.compareUnsigned(word, -rest) >= 0) word = word();
        return Long.remainderUnsigned(word, bound);
    }

    /** So many different ones of many, all orders alike: the first steps of a Fisher-Yates shuffle. */
    int[] choices(int many, int chosen) {
        Map<Integer, Integer> moved = new HashMap<>(); // what stands where the shuffle has been
        int[] drawn = new int[chosen];
        for (int i = 0; i < chosen; i++) {
            int other = i + below(many - i);
            drawn[i] = moved.getOrDefault(other, other);
            moved.put(other, moved.getOrDefault(i, i));
        }
        return drawn;
    }

    @Override
    public void close() {
        Arrays.fill(held, (byte) 0);
    }
}
