package org.optldp.internal;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as files of reports hold them. Java 17 and Android do not always write the fewest digits: this does. */
public final class DoubleText {
    private static final int MOST_DIGITS = 17;
    private static final RoundingMode[] ROUNDINGS = {RoundingMode.HALF_EVEN, RoundingMode.UP, RoundingMode.DOWN};

    private DoubleText() {}

    /** The shortest decimal number that is the very double; exponents have two digits or more. */
    public static String of(double number) {
        if (number == 0) return "0.0";
        BigDecimal digits = shortest(number);
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            String plain = digits.toPlainString();
            return plain.indexOf('.') < 0 ? plain + ".0" : plain;
        }
        String written = digits.unscaledValue().abs().toString();
        String behind = written.length() > 1 ? "." + written.substring(1) : "";
        int size = Math.abs(exponent);
        String power = (exponent < 0 ? "-" : "+") + (size < 10 ? "0" : "") + size;
        return (number < 0 ? "-" : "") + written.charAt(0) + behind + "e" + power;
    }

    private static BigDecimal shortest(double number) {
        BigDecimal exact = new BigDecimal(number);
        for (int digits = 1; digits < MOST_DIGITS; digits++) {
            for (RoundingMode rounding : ROUNDINGS) {
                BigDecimal rounded = exact.round(new MathContext(digits, rounding));
                if (rounded.doubleValue() == number) return rounded.stripTrailingZeros();
            }
        }
        return exact.round(new MathContext(MOST_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
    }
}
