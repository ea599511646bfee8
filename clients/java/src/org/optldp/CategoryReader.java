package org.optldp;

import static org.optldp.TableException.need;
import static org.optldp.TableReader.WHOLE;
import static org.optldp.internal.Document.list;
import static org.optldp.internal.Document.object;
import static org.optldp.internal.Document.text;
import static org.optldp.internal.Document.whole;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.optldp.internal.Document;
import org.optldp.internal.Field;

/** From a file to a mechanism for categories that is proved private. */
public final class CategoryReader {
    private static final int MOST_CATEGORIES = 1 << 20;
    private static final long MOST_NAMED = 1L << 27; // categories times the characters of the longest
    private static final int MOST_CHOSEN = 1 << 19;
    private static final String KEYS = "format kind categories epsilon provenance ";

    /** For each power of a prime that is no prime: the coefficients below the highest of its polynomial. */
    private static final int[][] POLYNOMIALS = {
        {4, 1, 1}, {8, 1, 0, 1}, {16, 1, 0, 0, 1}, {32, 1, 0, 0, 1, 0}, {64, 1, 0, 0, 0, 0, 1}, {128, 1, 0, 0, 0, 0, 0, 1},
        {256, 1, 0, 0, 0, 1, 1, 0, 1}, {9, 1, 0}, {27, 1, 0, 2}, {81, 1, 0, 1, 1}, {243, 1, 0, 0, 0, 2}, {25, 1, 1},
        {125, 1, 0, 1}, {49, 1, 0}, {121, 1, 0}, {169, 1, 3},
    };

    private final Map<String, Object> document;
    private final int size;
    private final double epsilon;

    private CategoryReader(Map<String, Object> document, int size, double epsilon) {
        this.document = document;
        this.size = size;
        this.epsilon = epsilon;
    }

    /**
     * Reads a table of categories, a unary encoding, subset selection, local hashing or projective geometry, in UTF-8,
     * and proves it.
     *
     * @throws TableException for what is no such file, was altered, or is not proved to keep its epsilon
     */
    public static Categories read(byte[] file) throws TableException {
        Map<String, Object> document = Document.parse(file);
        members(document);
        String identifier = Document.unseal(document);
        return read(document, identifier);
    }

    /** The members that are the own ones of a document's kind, which must be for categories. */
    private static String members(Map<String, Object> document) throws TableException {
        Map<Object, String> own = new HashMap<>();
        own.put("categorical-table", "denominator numerators");
        own.put("unary-encoding", "own_one other_one");
        own.put("subset-selection", "n_chosen own_chosen");
        own.put("local-hashing", "n_values own_value");
        own.put("projective-geometry", "order own_supported");
        String members = own.get(document.get("kind"));
        boolean known = "optldp-bundle/1".equals(document.get("format")) && members != null;
        need(known, "a file must be a bundle of a kind for categories that this client has");
        return members;
    }

    /** A mechanism for categories that is a file, or stands in one; its checksum was taken off. */
    static Categories read(Map<String, Object> document, String identifier) throws TableException {
        object(document, KEYS + members(document));
        List<String> labels = labels(document.get("categories"));
        double epsilon = Document.epsilon(document);
        Document.provenance(document);
        Categories.Oracle oracle = new CategoryReader(document, labels.size(), epsilon).oracle();
        return new Categories(epsilon, identifier, labels, oracle);
    }

    static List<String> labels(Object value) throws TableException {
        List<String> labels = new ArrayList<>();
        long longest = 0;
        for (Object entry : list(value)) {
            String label = text(entry);
            need(!label.isEmpty() && label.indexOf('\0') < 0, "categories must be neither empty nor hold NUL");
            longest = Math.max(longest, label.codePointCount(0, label.length()));
            labels.add(label);
        }
        need(labels.size() >= 2 && labels.size() <= MOST_CATEGORIES, "categories must be 2 to 2^20");
        need(labels.size() * longest <= MOST_NAMED, "categories must be fewer or have shorter names");
        need(new HashSet<>(labels).size() == labels.size(), "categories must differ, got one twice");
        return labels;
    }

    private Categories.Oracle oracle() throws TableException {
        switch ((String) document.get("kind")) {
            case "categorical-table":
                return table();
            case "unary-encoding":
                return unary();
            case "subset-selection":
                return subset();
            case "projective-geometry":
                return geometry();
            default:
                return hash();
        }
    }

    private Categories.Oracle table() throws TableException {
        TableReader.requireDenominator(document);
        List<?> rows = list(document.get("numerators"));
        int outputs = rows.isEmpty() ? 0 : list(rows.get(0)).size();
        long[][] sums = TableReader.provenRows(rows, size, outputs, epsilon);
        for (long[] row : sums) Arrays.parallelPrefix(row, Long::sum);
        return Categories.table(sums);
    }

    private Categories.Oracle unary() throws TableException {
        long own = share("own_one");
        long other = share("other_one");
        need(other < own, "other_one must be below own_one");
        prove(times(own, Table.WHOLE - other), times(other, Table.WHOLE - own), epsilon);
        return Categories.unary(size, own, other);
    }

    private Categories.Oracle subset() throws TableException {
        BigInteger most = BigInteger.valueOf(Math.min(size - 1, MOST_CHOSEN));
        int chosen = (int) whole(document.get("n_chosen"), BigInteger.ONE, most);
        long own = share("own_chosen");
        boolean more = times(own, size).compareTo(times(chosen, Table.WHOLE)) > 0;
        need(more, "own_chosen must be more than that of a random set");
        prove(times(own, size - chosen), times(Table.WHOLE - own, chosen), epsilon);
        return Categories.subset(size, chosen, own);
    }

    private Categories.Oracle hash() throws TableException {
        Field field = field(document.get("n_values"));
        long own = share("own_value");
        int g = field.size;
        long other = (Table.WHOLE - own) / (g - 1);
        boolean equal = other * (g - 1) == Table.WHOLE - own && other < own;
        need(equal, "own_value must leave smaller equal shares of 2^53");
        prove(BigInteger.valueOf(own), BigInteger.valueOf(other), epsilon);
        int digits = 1;
        while (Field.power(g, digits) < size) digits++;
        return Categories.hash(field, digits, own, other);
    }

    private Categories.Oracle geometry() throws TableException {
        Field field = field(document.get("order"));
        long own = share("own_supported");
        int length = 2;
        while (field.points(length) < size) length++;
        long n = field.points(length);
        long m = field.points(length - 1);
        boolean more = times(own, n).compareTo(times(m, Table.WHOLE)) > 0;
        need(more, "own_supported must be more than that of a random point");
        prove(times(own, n - m), times(Table.WHOLE - own, m), epsilon);
        return Categories.geometry(field, length, own);
    }

    private static Field field(Object elements) throws TableException {
        int g = (int) whole(elements, BigInteger.valueOf(2), BigInteger.valueOf(256));
        int prime = 2;
        while (g % prime != 0) prime++;
        if (prime == g) return new Field(g, 0);
        for (int[] each : POLYNOMIALS) {
            if (each[0] == g) return new Field(prime, Arrays.copyOfRange(each, 1, each.length));
        }
        throw new TableException("n_values and order must be powers of primes");
    }

    /** A share of 2^53 that is neither none nor all. */
    static long share(Object value) throws TableException {
        return whole(value, BigInteger.ONE, WHOLE.subtract(BigInteger.ONE));
    }

    private long share(String name) throws TableException {
        return share(document.get(name));
    }

    private static BigInteger times(long one, long other) {
        return BigInteger.valueOf(one).multiply(BigInteger.valueOf(other));
    }

    /** The largest ratio of the probabilities of a report, as a fraction, must be at most e^epsilon. */
    static void prove(BigInteger above, BigInteger below, double epsilon) throws TableException {
        BigInteger limit = Document.exponentialBelow(epsilon).multiply(below);
        boolean fits = below.signum() > 0 && above.multiply(Document.SCALE).compareTo(limit) <= 0;
        need(fits, "every ratio must be proved at most e^epsilon");
    }
}
