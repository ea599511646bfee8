package org.optldp;

import static org.optldp.TableException.need;
import static org.optldp.TableReader.WHOLE;
import static org.optldp.internal.Document.list;
import static org.optldp.internal.Document.object;
import static org.optldp.internal.Document.text;
import static org.optldp.internal.Document.whole;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.optldp.internal.Document;

/** From a file to any mechanism that this client has, proved private: what has several parts is proved part by part. */
public final class MechanismReader {
    private static final int MOST_OUTPUTS = (1 << 15) - 2; // of the values of pairs
    private static final int MOST_ATTRIBUTES = 256;
    private static final int MOST_LEVELS = 256;
    private static final int MOST_LEVEL_REPORTS = 4096;
    private static final long MOST_COUNTED = 1 << 25;
    private static final BigInteger MOST_PADDING = BigInteger.ONE.shiftLeft(20);

    private MechanismReader() {}

    /**
     * Reads a file in UTF-8 and proves it.
     *
     * @throws TableException for what is no such file, was altered, or is not proved to keep its epsilon
     */
    public static Mechanism read(byte[] file) throws TableException {
        Map<String, Object> document = Document.parse(file);
        String identifier = Document.unseal(document);
        if ("floor".equals(kindOf(document))) return Mechanism.of(TableReader.floor(document, identifier));
        return read(document, identifier);
    }

    /** A mechanism that is a file, or stands in one; floor forms stand in none. */
    private static Mechanism read(Map<String, Object> document, String identifier) throws TableException {
        switch (kindOf(document)) {
            case "number":
                return Mechanism.of(TableReader.exact(document, identifier));
            case "attributes":
                return attributes(document);
            case "key-value-unary":
            case "key-value-response":
                return pairs(document);
            case "personalised":
            case "personalised-pairs":
            case "personalised-attributes":
                return levels(document);
            default:
                return Mechanism.of(CategoryReader.read(document, identifier));
        }
    }

    /** The kind of a bundle, "number" of a table, and nothing of what is neither. */
    private static String kindOf(Map<String, Object> document) {
        if ("optldp-table/2".equals(document.get("format"))) return "number";
        boolean bundle = "optldp-bundle/1".equals(document.get("format")) && document.get("kind") instanceof String;
        return bundle ? (String) document.get("kind") : "";
    }

    private static Table table(Object value) throws TableException {
        Map<String, Object> document = object(value, null);
        need("number".equals(kindOf(document)), "a table inside a file must have the format \"optldp-table/2\"");
        return TableReader.exact(document, "");
    }

    private static Mechanism attributes(Map<String, Object> document) throws TableException {
        object(document, "format kind attributes mechanisms sampled epsilon");
        List<String> names = new ArrayList<>();
        for (Object name : list(document.get("attributes"))) names.add(text(name));
        need(!names.isEmpty() && names.size() <= MOST_ATTRIBUTES, "attributes must be 1 to 256");
        boolean differ = new HashSet<>(names).size() == names.size() && !names.contains("");
        need(differ, "attributes must have names that differ");
        List<Table> tables = new ArrayList<>();
        for (Object each : list(document.get("mechanisms"))) tables.add(table(each));
        need(names.size() == tables.size(), "every attribute needs a name and one table");
        double epsilon = Document.epsilon(document);
        int sampled = (int) whole(document.get("sampled"), BigInteger.ONE, BigInteger.valueOf(names.size()));
        List<BigDecimal> spent = new ArrayList<>();
        for (Table each : tables) spent.add(new BigDecimal(each.epsilon));
        spent.sort(Collections.reverseOrder());
        BigDecimal sum = spent.subList(0, sampled).stream().reduce(BigDecimal.ZERO, BigDecimal::add);
        boolean fits = sum.compareTo(new BigDecimal(epsilon)) <= 0;
        need(fits, "the epsilons of any attributes that are sampled must sum to at most epsilon");
        return new Attributes(epsilon, names, tables, sampled);
    }

    private static Mechanism pairs(Map<String, Object> document) throws TableException {
        object(document, "format kind keys epsilon provenance value padding denominator fake own other");
        List<String> keys = CategoryReader.labels(document.get("keys"));
        Table table = table(document.get("value"));
        TableReader.requireDenominator(document);
        Document.provenance(document);
        double epsilon = Document.epsilon(document);
        need(table.outputs <= MOST_OUTPUTS, "the value table must have at most 32766 outputs");
        need((long) keys.size() * table.outputs <= MOST_COUNTED, "keys times outputs must be at most 2^25");
        int padding = (int) whole(document.get("padding"), BigInteger.ZERO, MOST_PADDING);
        long[] fake = TableReader.provenRows(document.get("fake"), 1, table.outputs, epsilon)[0];
        long own = CategoryReader.share(document.get("own"));
        long other = CategoryReader.share(document.get("other"));
        need(other < own, "other must be below own");
        boolean apart = "key-value-unary".equals(kindOf(document));
        BigInteger others = times(keys.size() + padding - 1, other);
        boolean equal = BigInteger.valueOf(own).add(others).equals(WHOLE);
        need(apart || equal, "own must leave equal shares of 2^53 to the others");
        prove(table, fake, apart, padding, own, other, epsilon);
        Arrays.parallelPrefix(fake, Long::sum);
        return new Pairs(epsilon, keys, table, padding, apart, own, other, fake);
    }

    private static BigInteger times(long one, long other) {
        return BigInteger.valueOf(one).multiply(BigInteger.valueOf(other));
    }

    /** The larger of two fractions, numerators before denominators, which are above 0; or the smaller. */
    private static BigInteger[] extreme(BigInteger[] one, BigInteger[] two, boolean largest) {
        boolean more = one[0].multiply(two[1]).compareTo(two[0].multiply(one[1])) >= 0;
        return more == largest ? one : two;
    }

    private static void prove(BigInteger[] most, BigInteger[] least, double epsilon) throws TableException {
        CategoryReader.prove(most[0].multiply(least[1]), most[1].multiply(least[0]), epsilon);
    }

    /** The proof of pairs: docs/bundle-format.md has the ratios. */
    private static void prove(Table table, long[] fake, boolean apart, int padding, long own, long other, double epsilon)
            throws TableException {
        long held = Math.max(padding, 1);
        BigInteger sampled = BigInteger.valueOf((Table.WHOLE + held - 1) / held); // of 2^53: a pair is sampled so often at most
        BigInteger[] one = {BigInteger.ONE, BigInteger.ONE};
        BigInteger[] most = {BigInteger.ZERO, BigInteger.ONE};
        BigInteger[] least = {BigInteger.valueOf(Table.WHOLE - own), BigInteger.valueOf(Table.WHOLE - other)};
        for (int j = 0; j < fake.length; j++) {
            long large = 0;
            long small = Table.WHOLE;
            for (int row = 0; row < table.knots.length; row++) {
                long each = table.sums.until(row, j) - (j > 0 ? table.sums.until(row, j - 1) : 0);
                large = Math.max(large, each);
                small = Math.min(small, each);
            }
            need(fake[j] > 0 || large == 0, "an output that the value table has must be among the fake ones");
            if (fake[j] == 0) continue;
            BigInteger below = times(other, fake[j]);
            BigInteger[][] ends = {{times(own, large), below}, {times(own, small), below}};
            if (apart) {
                most = extreme(most, ends[0], true);
                least = extreme(least, ends[1], false);
                continue;
            }
            for (BigInteger[] end : ends) {
                end[0] = end[0].multiply(sampled).add(below.multiply(WHOLE.subtract(sampled)));
                end[1] = below.multiply(WHOLE);
            }
            prove(extreme(one, ends[0], true), extreme(one, ends[1], false), epsilon);
        }
        if (apart) prove(most, least, epsilon);
    }

    private static Mechanism levels(Map<String, Object> document) throws TableException {
        boolean told = document.containsKey("level_mechanism");
        object(document, "format kind levels level_epsilon" + (told ? " level_mechanism" : ""));
        List<?> own = list(document.get("levels"));
        need(own.size() >= 2 && own.size() <= MOST_LEVELS, "there must be 2 to 256 levels");
        List<Mechanism> levels = new ArrayList<>();
        for (Object each : own) {
            Map<String, Object> level = object(each, null);
            need(fits(kindOf(document), kindOf(level)), "levels must be of the sort that their kind has");
            boolean hides = level.get("attributes") instanceof List && ((List<?>) level.get("attributes")).contains("level");
            need(!hides, "an attribute must not be named \"level\"");
            levels.add(read(level, ""));
        }
        for (int i = 1; i < levels.size(); i++) {
            Mechanism before = levels.get(i - 1);
            need(before.nature.equals(levels.get(i).nature), "levels must match, got others at one");
            for (int k = 0; k < before.budgets.size(); k++) {
                need(before.budgets.get(k) < levels.get(i).budgets.get(k), "levels must have rising budgets");
            }
        }
        Categories protocol = told ? protocol(document, own.size()) : randomisedResponse(document, own.size());
        String sort = kindOf(object(own.get(0), null));
        boolean each = "number".equals(sort) || "attributes".equals(sort); // outputs are each level's own
        long places = each ? levels.stream().mapToLong(level -> level.counted).sum() : levels.get(0).counted;
        long reports = protocol == null ? levels.size() : protocol.oracle.many;
        need(reports * places <= MOST_COUNTED, "reports of levels times what is counted beside each must be at most 2^25");
        return new Levels(levels, protocol);
    }

    private static boolean fits(String kind, String level) {
        if ("personalised-pairs".equals(kind)) return level.startsWith("key-value-");
        boolean attributes = "attributes".equals(level);
        if ("personalised-attributes".equals(kind)) return attributes;
        return !attributes && !level.startsWith("key-value-") && !level.startsWith("personalised");
    }

    private static Categories protocol(Map<String, Object> document, int many) throws TableException {
        Categories protocol = CategoryReader.read(object(document.get("level_mechanism"), null), "");
        boolean same = Document.number(document.get("level_epsilon")) == protocol.epsilon && protocol.labels.size() == many;
        need(same, "level_mechanism must have a category for each level and the budget level_epsilon");
        need(protocol.oracle.many <= MOST_LEVEL_REPORTS, "there must be at most 4096 reports of a level");
        return protocol;
    }

    /** Randomised response among so many levels; null where they are told in the clear. */
    private static Categories randomisedResponse(Map<String, Object> document, int many) throws TableException {
        if (document.get("level_epsilon") == null) return null;
        double epsilon = Document.epsilon(Map.of("epsilon", document.get("level_epsilon")));
        BigInteger others = BigInteger.valueOf(many - 1);
        BigInteger divisor = Document.exponentialBelow(epsilon).add(others.multiply(Document.SCALE));
        BigInteger rounded = WHOLE.multiply(Document.SCALE).add(divisor).subtract(BigInteger.ONE); // up
        long other = rounded.divide(divisor).longValueExact();
        long own = Table.WHOLE - (many - 1) * other;
        CategoryReader.prove(BigInteger.valueOf(own), BigInteger.valueOf(other), epsilon);
        long[][] rows = new long[many][many];
        List<String> names = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            Arrays.fill(rows[i], other);
            rows[i][i] = own;
            Arrays.parallelPrefix(rows[i], Long::sum);
            names.add(Integer.toString(i));
        }
        return new Categories(epsilon, "", names, Categories.table(rows));
    }
}
