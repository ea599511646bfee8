package org.optldp;


/**
 * Reports of which one budget holds for a whole history: one sum of it, or signs of its changes. A user's place, by public
 * shares, says which. What a device keeps for it stands among the draws of its state.
 */
abstract class WholeLife {
    final Mechanism mechanism; // of numbers
    private final double low;
    private final double high;

    private WholeLife(Table table) {
        mechanism = Mechanism.of(table);
        low = table.first();
        high = table.last();
    }

    /** Whether a user of a place is to report in a period. */
    abstract boolean inTurn(int place, int period);

    /** Keeps what a later report needs of a period, in turn or not. */
    abstract void note(Kept kept, int place, int period, Object value);

    /** A report, drawn now; null where nothing may be drawn. */
    abstract String drawn(Kept kept, int place, Object value);

    /** Moved from the domain to [-1, 1]. */
    final double scaled(double value) {
        return (value - 0.5 * (low + high)) / (0.5 * (high - low));
    }

    final double unscaled(double told) {
        double back = 0.5 * (low + high) + 0.5 * (high - low) * Math.max(-1.0, Math.min(1.0, told));
        return Math.max(low, Math.min(high, back));
    }

    /** A sum of the history by a row of public weights, when the last period with a weight ends. */
    static final class Rows extends WholeLife {
        private final double[][] rows;

        Rows(Table table, double[][] rows) {
            super(table);
            this.rows = rows;
        }

        private int end(int place) {
            int end = rows[place].length;
            while (rows[place][end - 1] == 0) end--;
            return end;
        }

        @Override
        boolean inTurn(int place, int period) {
            return period == end(place);
        }

        /** The first value of a period is kept until the report is drawn. */
        @Override
        void note(Kept kept, int place, int period, Object value) {
            if (period > end(place) || !kept.reports.isEmpty()) return;
            mechanism.require(value);
            kept.draws.putIfAbsent(Integer.toString(period), Double.toString((Double) value));
        }

        @Override
        String drawn(Kept kept, int place, Object value) {
            double total = 0;
            double held = Double.NaN;
            for (int period = rows[place].length; period >= 1; period--) { // ends at the first value that is kept
                if (kept.draws.containsKey(Integer.toString(period))) held = kept.number(Integer.toString(period));
            }
            for (int period = 1; period <= rows[place].length; period++) { // a missing value is the one before it, or the first
                if (kept.draws.containsKey(Integer.toString(period))) held = kept.number(Integer.toString(period));
                total += rows[place][period - 1] * scaled(held);
            }
            String report = mechanism.report(unscaled(total)).get(0);
            kept.draws.clear();
            return report;
        }
    }

    /** The users of a tree who send a sign whenever so many periods end, by signs that are drawn together. */
    static final class Branch {
        final int step;
        final int many;
        private final long[] until; // weights of up to so many plus signs

        Branch(int step, int many, long[] weights) {
            this.step = step;
            this.many = many;
            this.until = weights.clone();
            for (int plus = 1; plus <= many; plus++) until[plus] += until[plus - 1];
        }

        private String signs() {
            try (Taken words = new Taken(1)) {
                long drawn = words.below(until[many]);
                int plus = 0;
                while (until[plus] <= drawn) plus++;
                StringBuilder signs = new StringBuilder();
                for (int one : words.choices(many, many)) signs.append(one < plus ? '+' : '-');
                return signs.toString();
            }
        }
    }

    /** The value of one period, or a sign at the end of each block of periods: docs/bundle-format.md has the law. */
    static final class Tree extends WholeLife {
        private static final String OFFSET = "offset";
        private static final String SIGNS = "signs"; // that were drawn at first
        private static final String SIGN = "sign"; // of the value, when the last block ended
        private static final String TOLD = "told"; // how many signs are used
        private final int periods;
        private final Branch[] branches;

        Tree(Table table, int periods, Branch[] branches) {
            super(table);
            this.periods = periods;
            this.branches = branches;
        }

        @Override
        boolean inTurn(int place, int period) {
            if (place < periods) return period == place + 1;
            return period > 1 && period % branches[place - periods].step == 0;
        }

        /** The signs and the offset are drawn when a user is first asked, unless another copy may have drawn them. */
        @Override
        void note(Kept kept, int place, int period, Object value) {
            if (place < periods || kept.draws.containsKey(SIGNS) || kept.lost > 0) return;
            mechanism.require(value);
            double offset = (Taken.one() >>> 11) * 0x1p-53;
            kept.draws.put(SIGNS, branches[place - periods].signs());
            kept.draws.put(OFFSET, Double.toString(offset));
            kept.draws.put(SIGN, sign(value, offset));
            kept.draws.put(TOLD, "0");
        }

        @Override
        String drawn(Kept kept, int place, Object value) {
            if (place < periods) return mechanism.report(value).get(0);
            String signs = kept.draws.get(SIGNS);
            if (kept.lost > 0 || signs == null) return null;
            mechanism.require(value);
            String now = sign(value, kept.number(OFFSET));
            String sent = Taken.one() < 0 ? "+" : "-"; // a fair one, drawn by all
            int told = (int) kept.number(TOLD);
            if (!now.equals(kept.draws.get(SIGN)) && told < signs.length()) { // the change, plus if it was upwards, times the next
                sent = now.charAt(0) == signs.charAt(told) ? "+" : "-";
                kept.draws.put(TOLD, Integer.toString(told + 1));
            }
            kept.draws.put(SIGN, now);
            return sent;
        }

        private String sign(Object value, double offset) {
            return scaled((Double) value) > 2 * offset - 1 ? "+" : "-";
        }
    }
}
