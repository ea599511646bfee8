package org.optldp.internal;

import static org.optldp.TableException.need;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.optldp.TableException;

/** What all files share: the text, the types of members, the checksum, the budget, the provenance. */
public final class Document {
    private static final int MOST_BYTES = 1 << 25;
    private static final long MOST_PARSED = 160L << 20;
    private static final int MOST_DIGITS = 4000;
    public static final BigInteger SCALE = BigInteger.ONE.shiftLeft(128);

    private Document() {}

    /** The object in a file in UTF-8. */
    public static Map<String, Object> parse(byte[] file) throws TableException {
        requireModest(file);
        return object(Json.parse(decoded(file)), null);
    }

    /** By the count of docs/table-format.md. */
    private static void requireModest(byte[] file) throws TableException {
        need(file.length <= MOST_BYTES, "a file must be at most 2^25 bytes");
        long parts = file.length;
        int digits = 0;
        for (byte each : file) {
            parts += each == ',' ? 40 : each == '[' ? 500 : each == '{' || each == ':' ? 2000 : 0;
            digits = each >= '0' && each <= '9' ? digits + 1 : 0;
            need(digits <= MOST_DIGITS, "a number must have at most 4000 digits in a row");
        }
        need(parts <= MOST_PARSED, "a file must have fewer members and elements");
    }

    private static String decoded(byte[] file) throws TableException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file)).toString();
        } catch (CharacterCodingException error) {
            throw new TableException("the file must be text in UTF-8");
        }
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value, String keys) throws TableException {
        need(value instanceof Map, "the document must have objects where the format has them");
        Map<String, Object> made = (Map<String, Object>) value;
        boolean fits = keys == null || made.keySet().equals(new HashSet<>(Arrays.asList(keys.split(" "))));
        need(fits, "an object must have the keys of its format, and no others");
        return made;
    }

    public static List<?> list(Object value) throws TableException {
        need(value instanceof List, "the document must have lists where the format has them");
        return (List<?>) value;
    }

    public static String text(Object value) throws TableException {
        need(value instanceof String, "the document must have texts where the format has them");
        return (String) value;
    }

    public static double number(Object value) throws TableException {
        need(value instanceof Number, "the document must have numbers where the format has them");
        return ((Number) value).doubleValue() + 0.0; // not -0
    }

    public static double[] numbers(Object value, boolean infinite) throws TableException {
        List<?> entries = list(value);
        double[] made = new double[entries.size()];
        for (int i = 0; i < made.length; i++) {
            Object entry = entries.get(i);
            if (infinite && "inf".equals(entry)) made[i] = Double.POSITIVE_INFINITY;
            else if (infinite && "-inf".equals(entry)) made[i] = Double.NEGATIVE_INFINITY;
            else made[i] = number(entry);
        }
        return made;
    }

    public static long whole(Object value, BigInteger least, BigInteger most) throws TableException {
        need(value instanceof BigInteger, "numerators, shares, places, floors and the like must be whole numbers");
        BigInteger whole = (BigInteger) value;
        need(whole.compareTo(least) >= 0 && whole.compareTo(most) <= 0, "every whole number must be in the range of its format");
        return whole.longValueExact();
    }

    public static long[] wholes(Object value, BigInteger least, BigInteger most) throws TableException {
        List<?> entries = list(value);
        long[] made = new long[entries.size()];
        for (int i = 0; i < made.length; i++) made[i] = whole(entries.get(i), least, most);
        return made;
    }

    private static void add(MessageDigest hash, char tag, long bits) {
        hash.update((byte) tag);
        hash.update(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(bits).array());
    }

    /** Adds the bytes that a checksum is taken of. */
    private static void add(MessageDigest hash, Object value) {
        if (value instanceof Map) {
            TreeMap<byte[], Object> members = new TreeMap<>(Document::byBytes);
            ((Map<?, ?>) value).forEach((key, member) -> members.put(((String) key).getBytes(StandardCharsets.UTF_8), member));
            add(hash, 'o', members.size());
            members.forEach((key, member) -> {
                add(hash, 's', key.length);
                hash.update(key);
                add(hash, member);
            });
        } else if (value instanceof List) {
            add(hash, 'a', ((List<?>) value).size());
            ((List<?>) value).forEach(element -> add(hash, element));
        } else if (value instanceof String) {
            byte[] bytes = ((String) value).getBytes(StandardCharsets.UTF_8);
            add(hash, 's', bytes.length);
            hash.update(bytes);
        } else if (value instanceof Number) {
            add(hash, 'n', Double.doubleToLongBits(((Number) value).doubleValue() + 0.0));
        } else {
            hash.update((byte) (value == null ? 'z' : (Boolean) value ? 't' : 'f'));
        }
    }

    private static int byBytes(byte[] one, byte[] other) {
        for (int i = 0; i < Math.min(one.length, other.length); i++) {
            if (one[i] != other[i]) return Integer.compare(one[i] & 0xff, other[i] & 0xff);
        }
        return Integer.compare(one.length, other.length);
    }

    /**
     * Takes the checksum, which must fit, off a file's document, and returns the mechanism's name in files of reports.
     * Documents inside it have no checksum.
     */
    public static String unseal(Map<String, Object> document) throws TableException {
        String checksum;
        Map<String, Object> content = new TreeMap<>(document);
        content.remove("checksum");
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            add(hash, content);
            StringBuilder made = new StringBuilder("sha256:");
            for (byte each : hash.digest()) made.append(String.format("%02x", each & 0xff));
            checksum = made.toString();
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("the platform must have SHA-256", error);
        }
        need(checksum.equals(document.remove("checksum")), "the checksum must fit: the file was altered");
        return "t" + checksum.substring("sha256:".length(), "sha256:".length() + 12);
    }

    public static double epsilon(Map<String, Object> document) throws TableException {
        double epsilon = number(document.get("epsilon"));
        need(epsilon >= 1e-6 && epsilon <= 16, "epsilon must be in [1e-6, 16]");
        return epsilon;
    }

    /** Checks how a mechanism came about; returns the parameters of its method. */
    public static Map<String, Object> provenance(Map<String, Object> document) throws TableException {
        Map<String, Object> origin = object(document.get("provenance"), "method parameters version certificate");
        text(origin.get("method"));
        text(origin.get("version"));
        requireRecord(origin.get("parameters"));
        if (origin.get("certificate") != null) requireRecord(origin.get("certificate"));
        return object(origin.get("parameters"), null);
    }

    private static void requireRecord(Object value) throws TableException {
        for (Object entry : object(value, null).values()) {
            Collection<?> plain = entry instanceof List ? (List<?>) entry : Arrays.asList(entry);
            for (Object each : plain) {
                boolean fits = !(each instanceof List || each instanceof Map);
                need(fits, "parameters and certificate must hold plain values or lists of them");
            }
        }
    }

    /** p with p / 2^128 at most e^epsilon: Taylor's series, every term rounded down. */
    public static BigInteger exponentialBelow(double epsilon) {
        int shift = 52 - Math.getExponent(epsilon);
        BigInteger mantissa = BigInteger.valueOf((long) Math.scalb(epsilon, shift));
        BigInteger sum = BigInteger.ZERO;
        BigInteger term = SCALE;
        for (long k = 1; term.signum() > 0; k++) {
            sum = sum.add(term);
            term = term.multiply(mantissa).shiftRight(shift).divide(BigInteger.valueOf(k));
        }
        return sum;
    }
}
