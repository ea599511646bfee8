package org.optldp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import org.optldp.internal.Field;

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

    /** What no vector shows of a state: it is one way's and one user's, a file of its owner alone, and no error tells. */
    private static void keepsStates() throws IOException {
        Categories answers = new Categories(1, "t0", LABELS, Categories.unary(3, Table.WHOLE / 2, Table.WHOLE / 4));
        OverTime way = new OverTime("t1", 12, 2, Mechanism.of(answers), null, answers, 2, true, null, null, 12, null);
        Path folder = Files.createTempDirectory("optldp");
        FilePlace state = new FilePlace(folder.resolve("state"));
        FilePlace mark = new FilePlace(folder.resolve("mark"));
        plant(0);
        String[][] wrong = {{"", "1"}, {"secret".repeat(200), "1"}, {"ann", "0"}, {"ann", "13"}};
        for (String[] each : wrong) refuses(() -> way.report(each[0], Integer.parseInt(each[1]), VALUE, state, mark), "user or period");
        plant(99);
        refuses(() -> way.report("ann", 1, "secret", state, mark), "value");
        check(state.read() == null, "what is refused must change no state");
        String sent = way.report("Zoe\u0308", 3, VALUE, state, mark);
        plant(0);
        check(sent != null && sent.equals(way.report("Zo\u00eb", 3, "cook", state, mark)), "a period must have one report");
        refuses(() -> way.report("bob", 4, VALUE, state, mark), "another user's state");
        String alone = PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("state")));
        check(alone.equals("rw-------"), "a state must be its owner's alone");
        for (String altered : List.of("{}", "[", state.read().replace("\"lost\": 0", "\"lost\": -1"))) {
            state.write(altered);
            refuses(() -> way.report("Zo\u00eb", 4, VALUE, state, mark), "an altered state");
        }
        for (String name : List.of("state", "mark")) Files.delete(folder.resolve(name));
        Files.delete(folder);
    }

    /** What asks for a report. */
    private interface Asking {
        String ask() throws IOException;
    }

    private static void refuses(Asking asking, String what) throws IOException {
        try {
            asking.ask();
            throw new AssertionError(what + ": must be refused");
        } catch (IllegalArgumentException refused) {
            check(!refused.getMessage().contains("secret"), what + ": no content in a message");
        }
    }

    public static void main(String[] arguments) throws IOException, TableException {
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
        keepsStates();
        System.out.println("no fault");
    }
}
