package org.optldp;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.optldp.internal.DoubleText;

/**
 * Any mechanism that is proved private, made by {@link MechanismReader}. It is read only, so that threads may share one. No
 * message holds a value.
 */
public abstract class Mechanism {
    private static final int EXPECTED = 8; // words asked for at first; more follow as they are needed

    /** The budget that each report of a value spends; proved. Of levels, the largest. */
    public final double epsilon;
    final String nature; // what the mechanisms of several levels must have in common
    final List<Double> budgets; // that rise from level to level
    final long counted; // of values beside a report of a level: categories, outputs, those of keys

    Mechanism(double epsilon, String nature, List<Double> budgets, long counted) {
        this.epsilon = epsilon;
        this.nature = nature;
        this.budgets = budgets;
        this.counted = counted;
    }

    /**
     * Draws a report, cell by cell as docs/report-format.md has them; a level's cell has its number. Each draw of a value spends
     * epsilon again. No word is asked for before the whole value is known to be right.
     *
     * @param value a Double of a table, a String of categories, a List of keys and numbers, each a {@code Map.Entry<String,
     *     Double>}, of pairs, a {@code double[]} of attributes, a {@link Levels.Value} of levels
     * @throws IllegalArgumentException for what is no value of the mechanism
     */
    public final List<String> report(Object value) {
        require(value);
        try (Taken words = new Taken(EXPECTED)) {
            return draw(value, words);
        }
    }

    abstract void require(Object value);

    /** The cells of a value that was required to be right. */
    abstract List<String> draw(Object value, Taken words);

    static void need(boolean holds) {
        if (!holds) throw new IllegalArgumentException("the value must be of the sort that the mechanism takes, got another");
    }

    /** What tables must have in common: the ends of the domain, and units. */
    static String natureOf(Table table) {
        return "number " + (table.first() + 0.0) + " " + (table.last() + 0.0) + " " + table.units;
    }

    static Mechanism of(Table table) {
        return new Mechanism(table.epsilon, natureOf(table), List.of(table.epsilon), table.outputs) {
            @Override
            void require(Object value) {
                need(value instanceof Double);
                table.requireInside((Double) value);
            }

            @Override
            List<String> draw(Object value, Taken words) {
                return List.of(DoubleText.of(table.report((Double) value, words)));
            }
        };
    }

    static Mechanism of(Categories names) {
        List<String> common = new ArrayList<>(names.labels);
        Collections.addAll(common, names.oracle.reports);
        return new Mechanism(names.epsilon, String.join("\0", common), List.of(names.epsilon), names.labels.size()) {
            @Override
            void require(Object value) {
                need(value instanceof String);
                names.code((String) value);
            }

            @Override
            List<String> draw(Object value, Taken words) {
                return List.of(names.oracle.draw.report(names.code((String) value), words));
            }
        };
    }
}
