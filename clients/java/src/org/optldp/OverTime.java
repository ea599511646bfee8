package org.optldp;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.Normalizer;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reports of a user over time, proved private, made by {@link OverTimeReader}, with a state that draws nothing twice:
 * docs/asking-again.md of optldp says what a state and its mark are for. No message holds a value.
 */
public final class OverTime {
    /** Where a device keeps a text, whole or not at all, and on disk when it was written. */
    public interface Place {
        /** Returns the text; null where there is none. */
        String read() throws IOException;

        void write(String text) throws IOException;
    }

    private static final int LONGEST_NAME = 1024;
    private static final String OFFSET = "offset"; // of rounding to knots
    private static final String LAST = "last"; // the place that was sent last

    /** The way's name in files of reports. */
    public final String identifier;
    /** The last period. */
    public final int periods;
    /** The budget of a user's reports; of values that are remembered what docs/bundle-format.md says, and nothing else. */
    public final double epsilon;
    private final Mechanism mechanism;
    private final double[] knots; // null of categories
    private final Categories names; // null of numbers
    private final int most; // reports of a panel, or different values that are remembered
    private final boolean remembers;
    private final byte[] salt; // null: each device draws its turns
    private final long[] shares; // null: all periods alike
    private final int span;
    private final WholeLife life; // null of panels and of values that are remembered

    OverTime(String identifier, int periods, double epsilon, Mechanism mechanism, double[] knots, Categories names, int most,
            boolean remembers, byte[] salt, long[] shares, int span, WholeLife life) {
        this.identifier = identifier;
        this.periods = periods;
        this.epsilon = epsilon;
        this.mechanism = mechanism;
        this.knots = knots;
        this.names = names;
        this.most = most;
        this.remembers = remembers;
        this.salt = salt;
        this.shares = shares;
        this.span = span;
        this.life = life;
    }

    /**
     * Returns the report of a period as a file holds it, null where nothing is to be sent. It is in the state before it is
     * returned: the same period has the same report again, whatever the value is. A state that is missing or behind its mark
     * counts as spent until there: keep the mark where it is not restored or lost together with the state. A state is one
     * way's and one user's. One thread at a time may ask.
     *
     * @throws IllegalArgumentException for a user, a period or a value that is none, and for a state that is not as it was left
     * @throws IOException where the state or its mark cannot be read or written; no report may be sent
     */
    public String report(String user, int period, Object value, Place state, Place mark) throws IOException {
        String name = nameOf(user);
        if (period < 1 || period > periods) {
            throw new IllegalArgumentException("the period must be a whole number from 1 to " + periods + ", got another");
        }
        String before = mark.read();
        Kept kept = Kept.of(state.read(), before, ownerOf(name));
        if (before == null) {
            if (kept.number > 0) kept.lost = Math.max(kept.lost, period); // another copy may have sent this period's report
            mark.write(kept.mark());
        }
        String asked = Integer.toString(period);
        int place = life == null ? 0 : picked(hashed(name, 0));
        boolean turn = life == null ? isTurn(kept, name, period) : life.inTurn(place, period);
        boolean lacking = turn && !kept.reports.containsKey(asked);
        if (life != null) life.note(kept, place, period, value);
        if (lacking && period >= kept.latest && period > kept.lost) {
            String report = life != null ? life.drawn(kept, place, value)
                    : remembers ? remembered(kept, value) : mechanism.report(value).get(0);
            if (report != null) kept.reports.put(asked, report);
        }
        kept.latest = Math.max(kept.latest, period);
        kept.number += 1;
        state.write(kept.toString()); // before the mark, and the mark before the report leaves
        mark.write(kept.mark());
        return kept.reports.get(asked);
    }

    private boolean isTurn(Kept kept, String name, int period) {
        if (remembers) return true;
        if (salt == null && kept.turns == null) {
            kept.turns = kept.lost > 0 ? new TreeSet<>() : turnsBy(number -> Taken.one());
        }
        TreeSet<Integer> turns = salt == null ? kept.turns : turnsBy(number -> hashed(name, number));
        return turns.contains((period - 1) % span + 1);
    }

    private interface Numbered {
        long word(int number);
    }

    /** The place that a word picks of so many, from 0. */
    private static long place(long word, long many) {
        BigInteger unsigned = new BigInteger(Long.toUnsignedString(word));
        return unsigned.multiply(BigInteger.valueOf(many)).shiftRight(64).longValueExact();
    }

    /** The place that a word picks by the shares, from 0. */
    private int picked(long word) {
        long total = 0;
        for (long share : shares) total += share;
        long chosen = place(word, total);
        int place = 0;
        for (long end = shares[0]; end <= chosen; end += shares[place]) place++;
        return place;
    }

    private TreeSet<Integer> turnsBy(Numbered words) {
        TreeSet<Integer> turns = new TreeSet<>();
        if (shares != null) {
            turns.add(1 + picked(words.word(0)));
            return turns;
        }
        for (int number = 0; number < most; number++) {
            int last = span - most + number + 1;
            int turn = (int) (1 + place(words.word(number), last));
            turns.add(turns.contains(turn) ? last : turn);
        }
        return turns;
    }

    private long hashed(String name, int number) {
        byte[] last = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
        byte[] digest = digest("optldp-turn/1".getBytes(StandardCharsets.UTF_8), salt, name.getBytes(StandardCharsets.UTF_8), last);
        return ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** Whose a state is: a digest of the way and the user. */
    private String ownerOf(String name) {
        byte[] digest = digest(identifier.getBytes(StandardCharsets.UTF_8), name.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%064x", new BigInteger(1, digest));
    }

    /** The SHA-256 of parts, each with its length before it. */
    private static byte[] digest(byte[]... parts) {
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) {
                hash.update(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(part.length).array());
                hash.update(part);
            }
            return hash.digest();
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("the platform must have SHA-256", error);
        }
    }

    /** The report of the value's knot or category, drawn if it is new and there may be more; null where there is none. */
    private String remembered(Kept kept, Object value) {
        mechanism.require(value);
        Map<String, String> mine = new TreeMap<>(kept.draws);
        double offset = mine.isEmpty() ? (Taken.one() >>> 11) * 0x1p-53 : kept.number(OFFSET);
        mine.put(OFFSET, Double.toString(offset));
        int code = names != null ? names.code((String) value) : rounded((Double) value, offset);
        Object at = names != null ? value : (Object) knots[code];
        String place = Integer.toString(code);
        long drawn = mine.keySet().stream().filter(each -> !each.equals(OFFSET) && !each.equals(LAST)).count();
        if (!mine.containsKey(place) && drawn < most && kept.lost == 0) mine.put(place, mechanism.report(at).get(0));
        if (mine.containsKey(place)) mine.put(LAST, place);
        kept.draws.putAll(mine);
        return mine.containsKey(LAST) ? mine.get(mine.get(LAST)) : null;
    }

    private int rounded(double value, double offset) {
        int k = 0;
        while (k < knots.length - 2 && knots[k + 1] <= value) k++;
        return (value - knots[k]) / (knots[k + 1] - knots[k]) > offset ? k + 1 : k;
    }

    private static String nameOf(String user) {
        int length = user.codePointCount(0, user.length());
        boolean whole = user.codePoints().noneMatch(point -> point >= 0xd800 && point <= 0xdfff);
        if (length < 1 || length > LONGEST_NAME || !whole) {
            throw new IllegalArgumentException("the user must be text of 1 to 1024 characters, got something else");
        }
        return Normalizer.normalize(user, Normalizer.Form.NFC);
    }
}
