package org.optldp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** What no vector shows, by generators planted in the platform's place: {@code java -cp FOLDER org.optldp.Faults}. */
final class Faults {
    private static final String VALUE = "nurse";
    private static final List<String> LABELS = List.of("cook", "smith", VALUE);
    private static int asked; // words
    private static byte[] last = {};

    private Faults() {}

    /** A generator that fails when more words are asked for than it has. */
    private static final class Dry extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static void plant(int words) {
        asked = 0;
        Table.words = bytes -> {
            last = bytes;
            Arrays.fill(bytes, (byte) 1);
            asked += bytes.length / 8;
            if (asked > words) throw new Dry();
        };
    }

    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    private static void stops(Runnable draw, int needed, String what) {
        plant(needed - 1);
        try {
            draw.run();
            throw new AssertionError(what + ": a generator that fails must stop the draw");
        } catch (Dry stopped) {
            for (byte each : last) check(each == 0, what + ": words must be cleared after a fault");
        }
        plant(needed);
        draw.run();
        check(asked == needed, what + ": words that are drawn must be those that are needed");
        for (byte each : last) check(each == 0, what + ": words must be cleared");
    }

    private static void hides(Runnable draw, String secret, String what) {
        plant(0);
        try {
            draw.run();
            throw new AssertionError(what + ": a value outside must be refused");
        } catch (IllegalArgumentException refused) {
            check(asked == 0 && !refused.getMessage().contains(secret), what + ": no words, and no value in the message");
        }
    }

    public static void main(String[] arguments) throws TableException {
        long half = Table.WHOLE / 2;
        long[][] sums = {{half, half, Table.WHOLE}, {half / 2, half, Table.WHOLE}, {0, half, Table.WHOLE}};
        Categories.Oracle[] oracles = {
            Categories.table(sums), Categories.unary(3, half, half / 2), Categories.unary(100, half, half / 2),
            Categories.subset(3, 2, half), Categories.hash(new Field(2, 0), 2, half + 1, half - 1),
            Categories.geometry(new Field(2, 0), 2, half + 1),
        };
        int[] needed = {1, 3, 100, 3, 2, 3};
        for (int i = 0; i < oracles.length; i++) {
            Categories categories = new Categories(1, "t0", LABELS, oracles[i]);
            stops(() -> categories.report(VALUE), needed[i], "oracle " + i);
            hides(() -> categories.report("surgeon"), "surgeon", "oracle " + i);
        }
        double[] ends = {-1, 2};
        Outputs outputs = new Outputs(ends, ends);
        Table table = new Table("hours", 1, "t0", new double[] {0, 1}, outputs, (row, j) -> j == 1 ? Table.WHOLE : half);
        stops(() -> table.index(0.5), 2, "index");
        stops(() -> table.report(0.5), 3, "report");
        stops(() -> table.row(0.5), 4, "row");
        plant(4);
        String row = table.row(0.5).toString().replaceAll("\\d{4}-\\d\\d-\\d\\d", "D");
        String due = "{\"table\": \"t0\", \"output\": 0, \"day\": \"D\", \"report_id\": \"" + "01".repeat(16) + "\"}";
        check(row.equals(due), "a row must have its table, output, day and id");
        for (double value : new double[] {-0.25, 1.25, Double.NaN}) hides(() -> table.index(value), "25", "index");
        try {
            CategoryReader.read("{\"secret\": 1}".getBytes(StandardCharsets.UTF_8));
            throw new AssertionError("what is no bundle must be refused");
        } catch (TableException refused) {
            check(!refused.getMessage().contains("secret"), "no content in a message");
        }
        System.out.println("no fault");
    }
}
