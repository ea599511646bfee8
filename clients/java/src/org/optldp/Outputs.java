package org.optldp;

import static org.optldp.TableException.need;

import java.math.BigDecimal;
import java.util.Arrays;

/** The outputs of a table, and the law of a report inside one. */
final class Outputs {
    private static final double LARGEST_REPORT = 1e120;
    private static final int MOST_DIGITS = 64; // of a geometric number: those of probability 2^-54 and more are fewer
    final double[] low;
    final double[] high;
    double[] hidden = {};
    double[] refuges = {};
    double step;
    long[] odds = {};

    /** Sorted outputs that do not overlap. */
    Outputs(double[] low, double[] high) throws TableException {
        need(low.length == high.length && low.length > 0, "outputs must have as many low as high ends, at least 1");
        need(low.length <= TableReader.MOST_SIDE, "outputs must be at most 32768");
        this.low = low;
        this.high = high;
        double reach = Double.NEGATIVE_INFINITY;
        for (int j = 0; j < low.length; j++) {
            boolean point = low[j] == high[j];
            need(low[j] < high[j] || point && Double.isFinite(low[j]), "every output must have low <= high");
            need(isNear(low[j]) && isNear(high[j]), "finite ends must be within 1e120");
            boolean after = j == 0 || low[j] > low[j - 1] || low[j] == low[j - 1] && high[j] > high[j - 1];
            need(after, "outputs must be sorted by low end, then by high end, without repeats");
            need(point || low[j] >= reach, "cells must not overlap the cell before them");
            if (!point) reach = high[j];
        }
    }

    private static boolean isNear(double end) {
        return Math.abs(end) <= LARGEST_REPORT || Double.isInfinite(end);
    }

    /** Constant densities in cells: finds where a report of a cell goes that equals a point inside it. */
    void setUniform() throws TableException {
        double[] points = new double[low.length];
        int many = 0;
        for (int j = 0; j < low.length; j++) {
            need(Double.isFinite(low[j]) && Double.isFinite(high[j]), "a uniform law needs finite ends");
            if (low[j] == high[j]) points[many++] = low[j];
        }
        double[] down = new double[many];
        double[] up = new double[many];
        for (int i = 0; i < many; i++) {
            double before = Math.nextDown(points[i]) + 0.0;
            down[i] = i > 0 && points[i - 1] == before ? down[i - 1] : before;
        }
        for (int i = many - 1; i >= 0; i--) {
            double after = Math.nextUp(points[i]) + 0.0;
            up[i] = i + 1 < many && points[i + 1] == after ? up[i + 1] : after;
        }
        hidden = new double[many];
        refuges = new double[many];
        int found = 0;
        for (int j = 0, next = 0; j < low.length; j++) {
            if (low[j] == high[j]) continue;
            while (next < many && points[next] < low[j]) next++;
            for (; next < many && points[next] < high[j]; next++) {
                need(up[next] < high[j] || down[next] >= low[j], "a cell must hold a double that is no point");
                hidden[found] = points[next];
                refuges[found++] = up[next] < high[j] ? up[next] : down[next];
            }
        }
        hidden = Arrays.copyOf(hidden, found);
        refuges = Arrays.copyOf(refuges, found);
    }

    /** Points between lattices that reach infinity. */
    void setTails(double step, double ratio) throws TableException {
        need(step > 0 && step <= LARGEST_REPORT, "within.step must be in (0, 1e120]");
        need(ratio > 0 && ratio < 1, "within.ratio must be between 0 and 1");
        double left = Double.isInfinite(low[0]) ? high[0] : Double.NEGATIVE_INFINITY;
        double right = Double.POSITIVE_INFINITY;
        for (int j = 0; j < low.length; j++) {
            if (Double.isInfinite(high[j])) right = low[j];
        }
        for (int j = 0; j < low.length; j++) {
            boolean point = low[j] == high[j];
            need(point || Double.isInfinite(low[j]) != Double.isInfinite(high[j]), "beside geometric tails there must be only points");
            need(!point || left < low[j] && low[j] < right, "points must lie between the geometric tails");
        }
        need(left != right, "two geometric tails must have ends of their own");
        this.step = step;
        long[] made = new long[MOST_DIGITS];
        int many = 0;
        for (double q = ratio; ; q *= q) {
            long digit = (long) Math.rint(q / (1 + q) * Table.WHOLE);
            if (digit == 0) break;
            made[many++] = digit;
        }
        odds = Arrays.copyOf(made, many);
    }

    /** The mean report of an output. */
    BigDecimal mean(int j) {
        if (Double.isFinite(low[j]) && Double.isFinite(high[j])) {
            return new BigDecimal(low[j]).add(new BigDecimal(high[j])).multiply(new BigDecimal(0.5));
        }
        BigDecimal steps = BigDecimal.ZERO;
        for (int i = 0; i < odds.length; i++) {
            steps = steps.add(new BigDecimal(odds[i]).multiply(new BigDecimal(Math.scalb(1.0, i - 53))));
        }
        BigDecimal beyond = steps.multiply(new BigDecimal(step));
        return Double.isInfinite(low[j]) ? new BigDecimal(high[j]).subtract(beyond) : new BigDecimal(low[j]).add(beyond);
    }
}
