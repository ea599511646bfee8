package org.optldp;

import static org.optldp.TableException.need;
import static org.optldp.internal.Document.object;
import static org.optldp.internal.Document.whole;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Map;
import org.optldp.internal.Document;

/** From a file to a panel, or a way that remembers draws, whose mechanism is proved private and whose budgets add up. */
public final class OverTimeReader {
    private static final BigInteger MOST_PERIODS = BigInteger.valueOf(100_000);
    private static final BigInteger MOST_TOTAL = BigInteger.valueOf(Integer.MAX_VALUE);

    private OverTimeReader() {}

    /**
     * Reads a file in UTF-8 and proves it.
     *
     * @throws TableException for what is no such file, was altered, or is not proved to keep its epsilon
     */
    public static OverTime read(byte[] file) throws TableException {
        Map<String, Object> document = Document.parse(file);
        boolean remembers = "memoised".equals(document.get("kind"));
        boolean known = "optldp-bundle/1".equals(document.get("format")) && (remembers || "panel".equals(document.get("kind")));
        need(known, "a file must be a bundle of kind \"panel\" or \"memoised\"");
        String name = Document.unseal(document);
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
        BigDecimal spent = new BigDecimal(mechanism.epsilon).multiply(BigDecimal.valueOf(most));
        need(spent.compareTo(new BigDecimal(epsilon)) <= 0, "all reports of a user must spend at most epsilon");
        if (remembers) return new OverTime(name, periods, epsilon, mechanism, knots, names, most, true, null, null, span);
        long[] shares = null;
        if (document.get("shares") != null) {
            shares = Document.wholes(document.get("shares"), BigInteger.ZERO, MOST_TOTAL);
            BigInteger total = Arrays.stream(shares).mapToObj(BigInteger::valueOf).reduce(BigInteger.ZERO, BigInteger::add);
            boolean sums = total.signum() > 0 && total.compareTo(MOST_TOTAL) <= 0;
            boolean fits = sums && shares.length == periods && most == 1 && given == null;
            need(fits, "there must be a share for each period of one report, of a sum below 2^31");
        }
        return new OverTime(name, periods, epsilon, mechanism, knots, names, most, false, salt(document.get("salt")), shares, span);
    }

    private static int count(Object value, long least, BigInteger most) throws TableException {
        return (int) whole(value, BigInteger.valueOf(least), most);
    }

    private static byte[] salt(Object value) throws TableException {
        if (value == null) return null;
        String digits = Document.text(value);
        need(digits.matches("[0-9a-f]{32}"), "the salt must be 32 hexadecimal digits");
        byte[] salt = new byte[16];
        for (int i = 0; i < salt.length; i++) salt[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return salt;
    }
}
