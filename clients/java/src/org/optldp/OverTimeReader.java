package org.optldp;

import static org.optldp.TableException.need;
import static org.optldp.internal.Document.list;
import static org.optldp.internal.Document.object;
import static org.optldp.internal.Document.whole;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.optldp.internal.Document;

/** From a file to a way of reporting over time, whose mechanism is proved private and whose budgets add up. */
public final class OverTimeReader {
    private static final BigInteger MOST_PERIODS = BigInteger.valueOf(100_000);
    private static final int MOST_ROWS = 10_000;
    private static final int MOST_SIGNS = 32;
    private static final BigInteger MOST_TOTAL = BigInteger.valueOf(Integer.MAX_VALUE);

    private OverTimeReader() {}

    /**
     * Reads a file in UTF-8 and proves it.
     *
     * @throws TableException for what is no such file, was altered, or is not proved to keep its epsilon
     */
    public static OverTime read(byte[] file) throws TableException {
        Map<String, Object> document = Document.parse(file);
        boolean bundle = "optldp-bundle/1".equals(document.get("format")) && document.get("kind") instanceof String;
        String kind = bundle ? (String) document.get("kind") : "";
        boolean known = List.of("panel", "memoised", "rows", "tree").contains(kind);
        need(known, "a file must be a bundle of kind \"panel\", \"memoised\", \"rows\" or \"tree\"");
        String name = Document.unseal(document);
        if ("rows".equals(kind)) return rows(document, name);
        if ("tree".equals(kind)) return tree(document, name);
        boolean remembers = "memoised".equals(kind);
        object(document, "format kind mechanism periods epsilon " + (remembers ? "values" : "reports salt shares span"));
        Map<String, Object> inside = object(document.get("mechanism"), null);
        Table table = "optldp-table/2".equals(inside.get("format")) ? TableReader.exact(inside, "") : null;
        Categories names = table == null ? CategoryReader.read(inside, "") : null;
        Mechanism mechanism = table != null ? Mechanism.of(table) : Mechanism.of(names);
        double[] knots = table != null ? table.knots : null;
        double epsilon = Document.epsilon(document);
        int periods = count(document.get("periods"), 2, MOST_PERIODS);
        Object given = remembers ? null : document.get("span");
        int span = given == null ? periods : count(given, 1, BigInteger.valueOf(periods));
        int most = count(document.get(remembers ? "values" : "reports"), 1, BigInteger.valueOf(span));
        requireBudget(mechanism, most, epsilon);
        if (remembers) return new OverTime(name, periods, epsilon, mechanism, knots, names, most, true, null, null, span, null);
        boolean alike = document.get("shares") == null;
        need(alike || most == 1 && given == null, "shares must be of one report of a user, without a span");
        long[] shares = alike ? null : shares(document.get("shares"), periods);
        byte[] salt = document.get("salt") == null ? null : salt(document.get("salt"));
        return new OverTime(name, periods, epsilon, mechanism, knots, names, most, false, salt, shares, span, null);
    }

    private static OverTime rows(Map<String, Object> document, String name) throws TableException {
        object(document, "format kind mechanism rows shares variances salt stays epsilon");
        double epsilon = Document.epsilon(document);
        Table table = table(document.get("mechanism"), epsilon);
        List<?> given = list(document.get("rows"));
        need(!given.isEmpty() && given.size() <= MOST_ROWS, "rows must be 1 to 10000");
        double[][] rows = new double[given.size()][];
        boolean tells = false;
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Document.numbers(given.get(i), false);
            boolean weighs = false;
            double sum = 0;
            for (double weight : rows[i]) {
                weighs |= weight != 0;
                sum += weight;
            }
            tells |= sum != 0;
            need(weighs && rows[i].length == rows[0].length, "rows must have as many weights each, not all zero");
        }
        int periods = rows[0].length;
        need(periods >= 2 && periods <= MOST_PERIODS.intValue(), "rows must have 2 to 100000 weights");
        double[] variances = Document.numbers(document.get("variances"), false);
        boolean spread = variances.length == rows.length && Arrays.stream(variances).allMatch(each -> each > 0);
        need(spread, "there must be a positive variance for each row");
        boolean fits = document.get("stays") instanceof Boolean && (tells || !(Boolean) document.get("stays"));
        need(fits, "stays must be true or false, and true of rows that tell a value that stays");
        long[] shares = shares(document.get("shares"), rows.length);
        return ofLife(document, name, periods, epsilon, shares, new WholeLife.Rows(table, rows));
    }

    private static OverTime tree(Map<String, Object> document, String name) throws TableException {
        object(document, "format kind table periods shares branches variance salt epsilon");
        double epsilon = Document.epsilon(document);
        Table table = table(document.get("table"), epsilon);
        int periods = count(document.get("periods"), 2, MOST_PERIODS);
        List<WholeLife.Branch> branches = new ArrayList<>();
        Set<Integer> steps = new HashSet<>();
        for (Object each : list(document.get("branches"))) {
            branches.add(branch(each, periods, epsilon));
            need(steps.add(branches.get(branches.size() - 1).step), "branches must have different steps");
        }
        need(Document.number(document.get("variance")) > 0, "variance must be positive");
        long[] shares = shares(document.get("shares"), periods + branches.size());
        WholeLife life = new WholeLife.Tree(table, periods, branches.toArray(new WholeLife.Branch[0]));
        return ofLife(document, name, periods, epsilon, shares, life);
    }

    private static OverTime ofLife(Map<String, Object> document, String name, int periods, double epsilon, long[] shares,
            WholeLife life) throws TableException {
        byte[] salt = salt(document.get("salt"));
        return new OverTime(name, periods, epsilon, life.mechanism, null, null, 1, false, salt, shares, periods, life);
    }

    private static WholeLife.Branch branch(Object value, int periods, double epsilon) throws TableException {
        long[] numbers = Document.wholes(value, BigInteger.ONE, TableReader.WHOLE);
        need(numbers.length == 5, "a branch must be five whole numbers");
        boolean fits = numbers[0] < periods && numbers[2] <= numbers[1] && numbers[1] <= MOST_SIGNS && numbers[4] <= numbers[3];
        need(fits, "a branch must have numbers in their ranges");
        CategoryReader.prove(BigInteger.valueOf(numbers[3]), BigInteger.valueOf(numbers[4]), epsilon);
        int many = (int) numbers[1];
        long[] weights = new long[many + 1];
        BigInteger orders = BigInteger.ONE; // of so many plus signs among all
        BigInteger sum = BigInteger.ZERO;
        for (int plus = 0; plus <= many; plus++) {
            BigInteger all = orders.multiply(BigInteger.valueOf(numbers[plus >= numbers[2] ? 3 : 4]));
            sum = sum.add(all);
            weights[plus] = all.longValue(); // it fits, or the sum is refused
            orders = orders.multiply(BigInteger.valueOf(many - plus)).divide(BigInteger.valueOf(plus + 1));
        }
        need(sum.compareTo(TableReader.WHOLE) <= 0, "weights of signs must sum to at most 2^53");
        return new WholeLife.Branch((int) numbers[0], many, weights);
    }

    private static Table table(Object value, double epsilon) throws TableException {
        Map<String, Object> inside = object(value, null);
        need("optldp-table/2".equals(inside.get("format")), "the mechanism must be a table of numbers");
        Table table = TableReader.exact(inside, "");
        requireBudget(Mechanism.of(table), 1, epsilon);
        return table;
    }

    private static void requireBudget(Mechanism mechanism, int many, double epsilon) throws TableException {
        BigDecimal spent = new BigDecimal(mechanism.epsilon).multiply(BigDecimal.valueOf(many));
        need(spent.compareTo(new BigDecimal(epsilon)) <= 0, "all reports of a user must spend at most epsilon");
    }

    private static long[] shares(Object value, int many) throws TableException {
        long[] shares = Document.wholes(value, BigInteger.ZERO, MOST_TOTAL);
        BigInteger total = Arrays.stream(shares).mapToObj(BigInteger::valueOf).reduce(BigInteger.ZERO, BigInteger::add);
        boolean fits = shares.length == many && total.signum() > 0 && total.compareTo(MOST_TOTAL) <= 0;
        need(fits, "there must be a share for each period, row or branch, of a sum below 2^31");
        return shares;
    }

    private static int count(Object value, long least, BigInteger most) throws TableException {
        return (int) whole(value, BigInteger.valueOf(least), most);
    }

    private static byte[] salt(Object value) throws TableException {
        String digits = Document.text(value);
        need(digits.matches("[0-9a-f]{32}"), "the salt must be 32 hexadecimal digits");
        byte[] salt = new byte[16];
        for (int i = 0; i < salt.length; i++) salt[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return salt;
    }
}
