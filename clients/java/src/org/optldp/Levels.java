package org.optldp;

import java.util.ArrayList;
import java.util.List;

/** Mechanisms for the same values, by rising budgets, of which a user chooses one. */
public final class Levels extends Mechanism {
    /** A value, and the number of the level by which it is reported: 0 is the most private. */
    public static final class Value {
        final Object value;
        final int level;

        /** A value as the level's mechanism takes it. */
        public Value(Object value, int level) {
            this.value = value;
            this.level = level;
        }
    }

    final List<Mechanism> levels;
    private final Categories protocol; // how the level is reported; null: in the clear

    Levels(List<Mechanism> levels, Categories protocol) {
        super(levels.get(levels.size() - 1).epsilon, "levels", List.of(), 0);
        this.levels = levels;
        this.protocol = protocol;
    }

    @Override
    void require(Object value) {
        need(value instanceof Value);
        Value at = (Value) value;
        need(at.level >= 0 && at.level < levels.size());
        levels.get(at.level).require(at.value);
    }

    @Override
    List<String> draw(Object value, Taken words) {
        Value at = (Value) value;
        List<String> cells = new ArrayList<>(levels.get(at.level).draw(at.value, words)); // the value's report takes its words first
        long told = protocol == null ? at.level : protocol.place(protocol.oracle.draw.report(at.level, words));
        cells.add(0, Long.toString(told));
        return cells;
    }
}
