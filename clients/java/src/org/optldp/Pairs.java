package org.optldp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Sets of pairs of a key and a number. */
final class Pairs extends Mechanism {
    private final Map<String, Integer> places = new HashMap<>();
    private final Table table;
    private final int padding;
    private final boolean apart; // whether each key is shown or not by itself; else one place of all is shown
    private final long own; // how often, in 2^53, the own key's place is shown
    private final long other;
    private final long[] fakes; // numerators up to and with each output at places that are not the user's

    Pairs(double epsilon, List<String> keys, Table table, int padding, boolean apart, long own, long other, long[] fakes) {
        super(epsilon, nature(keys, table, padding, apart, fakes), List.of(epsilon), keys.size() * (1L + table.outputs));
        for (int place = 0; place < keys.size(); place++) places.put(keys.get(place), place);
        this.table = table;
        this.padding = padding;
        this.apart = apart;
        this.own = own;
        this.other = other;
        this.fakes = fakes;
    }

    private static String nature(List<String> keys, Table table, int padding, boolean apart, long[] fakes) {
        StringBuilder possible = new StringBuilder();
        for (int j = 0; j < fakes.length; j++) possible.append(fakes[j] > (j > 0 ? fakes[j - 1] : 0) ? '1' : '0');
        String knots = Arrays.toString(Arrays.stream(table.knots).map(knot -> knot + 0.0).toArray());
        return String.join("\0", keys) + "\0\0" + String.join(" ", "pairs", "" + apart, "" + padding, possible, knots, table.units);
    }

    @Override
    void require(Object value) {
        need(value instanceof List);
        List<?> pairs = (List<?>) value;
        need(padding > 0 || !pairs.isEmpty());
        Set<Object> seen = new HashSet<>();
        for (Object each : pairs) {
            need(each instanceof Map.Entry);
            Map.Entry<?, ?> pair = (Map.Entry<?, ?>) each;
            need(places.containsKey(pair.getKey()) && seen.add(pair.getKey()) && pair.getValue() instanceof Double);
            table.requireInside((Double) pair.getValue());
        }
    }

    private int fake(Taken words) {
        long word = words.share();
        int output = 0;
        while (fakes[output] <= word) output++;
        return output;
    }

    @Override
    List<String> draw(Object value, Taken words) {
        List<?> pairs = (List<?>) value;
        int many = places.size();
        int number = (int) (words.share() % Math.max(Math.max(pairs.size(), padding), 1));
        int place = many + number; // a dummy's
        double held = table.first();
        if (number < pairs.size()) {
            Map.Entry<?, ?> pair = (Map.Entry<?, ?>) pairs.get(number);
            place = places.get(pair.getKey());
            held = (Double) pair.getValue();
        }
        int output = table.index(held, words);
        if (apart) {
            List<String> shown = new ArrayList<>();
            for (int key = 0; key < many; key++) {
                boolean shows = words.share() < (key == place ? own : other);
                int fake = fake(words);
                if (shows) shown.add(key + ":" + (key == place ? output : fake));
            }
            return List.of(shown.isEmpty() ? "-" : String.join(";", shown));
        }
        long over = words.share() - own;
        int fake = fake(words);
        long step = over < 0 ? 0 : 1 + over / other;
        boolean truly = step == 0 && place < many;
        return List.of((place + step) % (many + padding) + ":" + (truly ? output : fake));
    }
}
