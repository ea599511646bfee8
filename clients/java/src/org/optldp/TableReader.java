package org.optldp;

import static org.optldp.TableException.need;
import static org.optldp.internal.Document.list;
import static org.optldp.internal.Document.number;
import static org.optldp.internal.Document.numbers;
import static org.optldp.internal.Document.object;
import static org.optldp.internal.Document.text;
import static org.optldp.internal.Document.wholes;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.optldp.internal.Document;

/** From a file to a table that is proved private: exact tables and floor forms. */
public final class TableReader {
    static final int MOST_SIDE = 1 << 15;
    private static final long MOST_ENTRIES = 1 << 25;
    static final BigInteger WHOLE = BigInteger.valueOf(Table.WHOLE);
    private static final BigInteger MOST_EDGE = BigInteger.ONE.shiftLeft(62);
    private static final String KEYS = "format units epsilon knots provenance prior ";

    private final Map<String, Object> document;
    private double epsilon;
    private double[] knots;
    private boolean unbiased;
    private final String identifier;

    private TableReader(Map<String, Object> document, String identifier) {
        this.document = document;
        this.identifier = identifier;
    }

    /**
     * Reads an exact table or a floor form, in UTF-8, and proves it.
     *
     * @throws TableException for what is no such file, was altered, or is not proved to keep its epsilon
     */
    public static Table read(byte[] file) throws TableException {
        Map<String, Object> document = Document.parse(file);
        boolean exact = "optldp-table/2".equals(document.get("format"));
        boolean floor = "optldp-bundle/1".equals(document.get("format")) && "floor".equals(document.get("kind"));
        need(exact || floor, "a file must be of the format \"optldp-table/2\", or a bundle of kind \"floor\"");
        String identifier = Document.unseal(document);
        return exact ? exact(document, identifier) : floor(document, identifier);
    }

    /** An exact table that is a file, or stands in one; its checksum was taken off. */
    static Table exact(Map<String, Object> document, String identifier) throws TableException {
        return new TableReader(document, identifier).exactTable();
    }

    static Table floor(Map<String, Object> document, String identifier) throws TableException {
        return new TableReader(document, identifier).floorForm();
    }

    /** What tables and floor forms share. */
    private void readAround() throws TableException {
        epsilon = Document.epsilon(document);
        knots = numbers(document.get("knots"), false);
        need(knots.length >= 2 && knots.length <= MOST_SIDE, "knots must be 2 to 32768");
        for (int i = 1; i < knots.length; i++) need(knots[i - 1] < knots[i], "knots must be strictly increasing");
        double width = knots[knots.length - 1] - knots[0];
        need(width > 1e-100 && width < 1e100, "knots must span 1e-100 to 1e100");
        text(document.get("units"));
        unbiased = Boolean.TRUE.equals(Document.provenance(document).get("unbiased"));
        if (document.get("prior") != null) requirePrior();
    }

    private void requirePrior() throws TableException {
        Map<String, Object> prior = object(document.get("prior"), "weights rounding source");
        double[] weights = numbers(prior.get("weights"), false);
        double[] rounding = numbers(prior.get("rounding"), false);
        boolean fits = weights.length == knots.length && rounding.length == knots.length - 1;
        need(fits, "a prior must have a weight for each knot and a rounding for each interval");
        double sum = 0;
        for (double weight : weights) {
            need(weight >= 0, "a prior must have no negative numbers");
            sum += weight;
        }
        for (double each : rounding) need(each >= 0, "a prior must have no negative numbers");
        need(Math.abs(sum - 1) <= 1e-9, "the weights of a prior must sum to 1");
        boolean named = Arrays.asList("public", "private-report", "sensitive").contains(prior.get("source"));
        need(named, "prior.source must be public, private-report or sensitive");
    }

    private Table made(Outputs outputs, Table.Sums sums) {
        return new Table((String) document.get("units"), epsilon, identifier, knots, outputs, sums);
    }

    /** A mean report must be its knot to 1e-12 of the domain, or to 2^-50 of the largest report. */
    private void requireUnbiased(int knot, BigDecimal totalOfWhole, BigDecimal farthest) throws TableException {
        BigDecimal mean = totalOfWhole.multiply(new BigDecimal(0x1p-53));
        BigDecimal off = mean.subtract(new BigDecimal(knots[knot])).abs();
        BigDecimal width = new BigDecimal(knots[knots.length - 1]).subtract(new BigDecimal(knots[0]));
        boolean fits = off.multiply(BigDecimal.TEN.pow(12)).compareTo(width) <= 0
                || off.multiply(new BigDecimal(0x1p50)).compareTo(farthest) <= 0;
        need(fits, "a table that claims to be unbiased must be so to 1e-12 of its domain");
    }

    private Table exactTable() throws TableException {
        need(!document.containsKey("promise"), "a table must promise pure epsilon-LDP, got another promise");
        object(document, KEYS + "low high denominator numerators within");
        requireDenominator(document);
        readAround();
        Outputs outputs = new Outputs(numbers(document.get("low"), true), numbers(document.get("high"), true));
        Map<String, Object> within = object(document.get("within"), null);
        if ("geometric-tails".equals(within.get("kind"))) {
            object(within, "kind step ratio");
            outputs.setTails(number(within.get("step")), number(within.get("ratio")));
        } else {
            object(within, "kind");
            need("uniform".equals(within.get("kind")), "the law within outputs must be the same for all rows");
            outputs.setUniform();
        }
        long[][] rows = provenRows(document.get("numerators"), knots.length, outputs.low.length, epsilon);
        if (unbiased) requireUnbiased(rows, outputs);
        for (long[] row : rows) Arrays.parallelPrefix(row, Long::sum);
        return made(outputs, (row, j) -> rows[row][j]);
    }

    static void requireDenominator(Map<String, Object> document) throws TableException {
        need(WHOLE.equals(document.get("denominator")), "denominator must be 9007199254740992");
    }

    /** Rows of numerators over 2^53, of which every ratio is proved. */
    static long[][] provenRows(Object numerators, int inputs, int m, double epsilon) throws TableException {
        List<?> entries = list(numerators);
        need(entries.size() == inputs, "numerators must have a row for each knot or category");
        need((long) inputs * m <= MOST_ENTRIES, "rows times outputs must be at most 2^25");
        long[][] rows = new long[inputs][];
        long[] smallest = new long[m];
        long[] largest = new long[m];
        Arrays.fill(smallest, Table.WHOLE);
        for (int i = 0; i < rows.length; i++) {
            rows[i] = wholes(entries.get(i), BigInteger.ZERO, WHOLE);
            need(rows[i].length == m, "every row must have a number for each output");
            long left = Table.WHOLE;
            for (int j = 0; j < m; j++) {
                left -= rows[i][j];
                need(left >= 0, "every row must sum to 2^53 exactly, got more");
                smallest[j] = Math.min(smallest[j], rows[i][j]);
                largest[j] = Math.max(largest[j], rows[i][j]);
            }
            need(left == 0, "every row must sum to 2^53 exactly, got less");
        }
        BigInteger limit = Document.exponentialBelow(epsilon);
        for (int j = 0; j < m; j++) {
            BigInteger most = BigInteger.valueOf(largest[j]).shiftLeft(128);
            boolean proved = most.compareTo(limit.multiply(BigInteger.valueOf(smallest[j]))) <= 0;
            need(proved, "every ratio must be proved at most e^epsilon");
        }
        return rows;
    }

    private void requireUnbiased(long[][] rows, Outputs outputs) throws TableException {
        BigDecimal[] means = new BigDecimal[outputs.low.length];
        BigDecimal farthest = BigDecimal.ZERO;
        for (int j = 0; j < means.length; j++) {
            means[j] = outputs.mean(j);
            farthest = farthest.max(means[j].abs());
        }
        for (int i = 0; i < rows.length; i++) {
            BigDecimal total = BigDecimal.ZERO;
            for (int j = 0; j < means.length; j++) total = total.add(means[j].multiply(new BigDecimal(rows[i][j])));
            requireUnbiased(i, total, farthest);
        }
    }

    private Table floorForm() throws TableException {
        object(document, KEYS + "kind ratio step places floor starts");
        readAround();
        String digits = text(document.get("ratio"));
        need(digits.matches("[1-9][0-9]{0,48}"), "ratio must be the digits of a whole number");
        BigInteger beyond = new BigInteger(digits).subtract(Document.SCALE);
        boolean proved = beyond.signum() > 0 && beyond.add(Document.SCALE).compareTo(Document.exponentialBelow(epsilon)) <= 0;
        need(proved, "the ratio must be proved at most e^epsilon, and above 1");
        double step = number(document.get("step"));
        boolean power = step >= 0x1p-1000 && step <= 0x1p400 && step == Math.scalb(1.0, Math.getExponent(step));
        need(power, "step must be a power of two from 2^-1000 to 2^400");
        long[] places = wholes(document.get("places"), WHOLE.negate(), WHOLE);
        long[] floor = wholes(document.get("floor"), BigInteger.ONE, WHOLE);
        long[] starts = wholes(document.get("starts"), BigInteger.ZERO, MOST_EDGE);
        boolean fits = floor.length == places.length && starts.length == knots.length;
        need(fits, "outputs must have a floor each, and knots a start each");
        double[] reports = new double[places.length];
        for (int j = 0; j < reports.length; j++) reports[j] = places[j] * step + 0.0;
        Outputs outputs = new Outputs(reports, reports);
        long[] edges = new long[floor.length];
        long[] floors = new long[floor.length];
        long edge = 0;
        long sum = 0;
        for (int j = 0; j < floor.length; j++) {
            BigInteger extra = beyond.multiply(BigInteger.valueOf(floor[j])).shiftRight(128);
            boolean near = extra.compareTo(MOST_EDGE.subtract(BigInteger.valueOf(edge))) <= 0;
            need(near, "the floor times the ratio must be at most 2^62");
            edges[j] = edge += extra.longValueExact();
            need(floor[j] <= Table.WHOLE - sum, "floors must sum to at most 2^53");
            floors[j] = sum += floor[j];
        }
        long width = Table.WHOLE - sum;
        need(width <= edge, "extras must fill a window");
        for (long start : starts) {
            boolean room = start <= edge - width && BigInteger.valueOf(start).equals(new BigDecimal((double) start).toBigInteger());
            need(room, "starts must be doubles that leave room for a window");
        }
        if (unbiased) requireUnbiased(places, floors, edges, starts, step);
        return made(outputs, (row, j) -> floors[j] + Math.min(Math.max(edges[j] - starts[row], 0), width));
    }

    private void requireUnbiased(long[] places, long[] floors, long[] edges, long[] starts, double step) throws TableException {
        int m = places.length;
        long width = Table.WHOLE - floors[m - 1];
        BigInteger base = BigInteger.ZERO;
        BigInteger[] sums = new BigInteger[m + 1];
        sums[0] = BigInteger.ZERO;
        for (int j = 0; j < m; j++) {
            BigInteger place = BigInteger.valueOf(places[j]);
            base = base.add(place.multiply(BigInteger.valueOf(floors[j] - (j > 0 ? floors[j - 1] : 0))));
            sums[j + 1] = sums[j].add(place.multiply(BigInteger.valueOf(edges[j] - (j > 0 ? edges[j - 1] : 0))));
        }
        BigDecimal unit = new BigDecimal(step);
        BigDecimal farthest = new BigDecimal(Math.max(-places[0], places[m - 1])).multiply(unit);
        for (int i = 0; i < starts.length; i++) {
            BigInteger window = until(places, edges, sums, starts[i] + width).subtract(until(places, edges, sums, starts[i]));
            requireUnbiased(i, new BigDecimal(base.add(window)).multiply(unit), farthest);
        }
    }

    /** The sum of places over the line of extras, up to a point of it. */
    private static BigInteger until(long[] places, long[] edges, BigInteger[] sums, long point) {
        int found = Arrays.binarySearch(edges, point);
        int j = Math.min(found >= 0 ? found : -found - 1, places.length - 1); // the edges before it are below the point
        long begin = j > 0 ? edges[j - 1] : 0;
        return sums[j].add(BigInteger.valueOf(places[j]).multiply(BigInteger.valueOf(point - begin)));
    }
}
