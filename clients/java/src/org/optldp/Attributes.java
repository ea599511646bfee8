package org.optldp;

import java.util.ArrayList;
import java.util.List;
import org.optldp.internal.DoubleText;

/** Several numbers, of which so many are reported. */
final class Attributes extends Mechanism {
    private final List<Table> tables;
    private final int sampled;

    Attributes(double epsilon, List<String> names, List<Table> tables, int sampled) {
        super(epsilon, nature(names, tables, sampled), budgets(epsilon, tables), tables.stream().mapToLong(each -> each.outputs).sum());
        this.tables = tables;
        this.sampled = sampled;
    }

    private static String nature(List<String> names, List<Table> tables, int sampled) {
        List<String> common = new ArrayList<>(List.of("attributes", String.valueOf(sampled), String.valueOf(names.size())));
        names.forEach(name -> common.add(name.length() + " " + name)); // a name may hold whatever separates
        for (Table table : tables) common.add(natureOf(table).length() + " " + natureOf(table));
        return String.join("\0", common);
    }

    private static List<Double> budgets(double epsilon, List<Table> tables) {
        List<Double> budgets = new ArrayList<>(List.of(epsilon));
        for (Table table : tables) budgets.add(table.epsilon);
        return budgets;
    }

    @Override
    void require(Object value) {
        need(value instanceof double[] && ((double[]) value).length == tables.size());
        for (int i = 0; i < tables.size(); i++) tables.get(i).requireInside(((double[]) value)[i]);
    }

    @Override
    List<String> draw(Object value, Taken words) {
        boolean[] chosen = new boolean[tables.size()];
        for (int place : words.choices(tables.size(), sampled)) chosen[place] = true;
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < chosen.length; i++) {
            cells.add(chosen[i] ? DoubleText.of(tables.get(i).report(((double[]) value)[i], words)) : "");
        }
        return cells;
    }
}
