package org.optldp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.optldp.internal.Json;

/** Answers the vectors of clients/conformance, a line of JSON each: {@code python -m clients.conformance java}. */
final class Conformance {
    /** A generator that gives nothing. */
    private static final class Exhausted extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private Conformance() {}

    public static void main(String[] arguments) throws IOException, TableException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder answers = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.append(answer((Map<?, ?>) Json.parse(line))).append('\n');
        }
        System.out.print(answers);
    }

    /** Draws a report, as JSON, of a value of JSON. */
    private interface Draw {
        String report(Object value);
    }

    /** Reads a file of any sort; reports of numbers are numbers, all others lines. */
    private static Draw read(byte[] document) throws TableException {
        Mechanism mechanism = MechanismReader.read(document);
        return value -> {
            String line = String.join(",", mechanism.report(valueOf(mechanism, value)));
            return value instanceof Number ? line : "\"" + line + "\"";
        };
    }

    /** A value as the mechanism takes it, of JSON. */
    private static Object valueOf(Mechanism mechanism, Object value) {
        if (value instanceof Number) return ((Number) value).doubleValue();
        if (value instanceof String) return value;
        List<?> parts = (List<?>) value;
        if (mechanism instanceof Levels) {
            Mechanism level = ((Levels) mechanism).levels.get(0);
            return new Levels.Value(valueOf(level, parts.get(0)), ((Number) parts.get(1)).intValue());
        }
        if (mechanism instanceof Attributes) return parts.stream().mapToDouble(each -> ((Number) each).doubleValue()).toArray();
        List<Map.Entry<String, Double>> pairs = new ArrayList<>();
        for (Object each : parts) {
            List<?> pair = (List<?>) each;
            pairs.add(Map.entry((String) pair.get(0), ((Number) pair.get(1)).doubleValue()));
        }
        return pairs;
    }

    private static String answer(Map<?, ?> asked) throws TableException {
        byte[] document = ((String) asked.get("document")).getBytes(StandardCharsets.UTF_8);
        if ("live".equals(asked.get("do"))) {
            return lived(OverTimeReader.read(document), (String) asked.get("user"), (List<?>) asked.get("steps"));
        }
        if ("draw".equals(asked.get("do"))) return drawn(read(document), (List<?>) asked.get("draws"));
        if (!"read".equals(asked.get("do"))) return "{\"skipped\": \"a task unknown to this client\"}";
        try {
            if (isOverTime(document)) OverTimeReader.read(document);
            else read(document);
            return "{\"accepted\": true}";
        } catch (TableException refused) {
            return "{\"accepted\": false, \"reason\": \"" + refused.getMessage().replace("\"", "\\\"") + "\"}";
        }
    }

    private static String drawn(Draw mechanism, List<?> draws) {
        List<String> reports = new ArrayList<>();
        for (Object draw : draws) {
            Iterator<?> given = ((List<?>) ((Map<?, ?>) draw).get("words")).iterator();
            boolean fills = given.hasNext();
            Table.words = bytes -> fill(bytes, given, fills);
            try {
                reports.add(mechanism.report(((Map<?, ?>) draw).get("value")));
            } catch (Exhausted stopped) {
                return "{\"stopped\": true}";
            }
        }
        return "{\"reports\": " + reports + "}";
    }

    private static boolean isOverTime(byte[] document) {
        try {
            return Json.parse(new String(document, StandardCharsets.UTF_8)) instanceof Map<?, ?> file
                    && List.of("panel", "memoised", "rows", "tree").contains(String.valueOf(file.get("kind")));
        } catch (TableException broken) {
            return false; // the other reader says why
        }
    }

    /** What stops a device in the middle. */
    private static final class Crash extends IOException {
        private static final long serialVersionUID = 1L;
    }

    /** A text of a device; it may be told to stop when that is written. */
    private static final class Memory implements OverTime.Place {
        private final boolean begins; // whether there may be a first text in spite of that, as of a mark of nothing
        private String text;
        private boolean crashes;

        Memory(boolean begins) {
            this.begins = begins;
        }

        @Override
        public String read() {
            return text;
        }

        @Override
        public void write(String text) throws IOException {
            if (crashes && !(begins && this.text == null)) throw new Crash();
            this.text = text;
        }
    }

    /** Reports in periods, with a state that is kept, put back, lost, or not written. */
    private static String lived(OverTime way, String user, List<?> steps) throws TableException {
        Memory state = new Memory(false);
        Memory mark = new Memory(true);
        String kept = null;
        List<String> answers = new ArrayList<>();
        for (Object each : steps) {
            Map<?, ?> step = (Map<?, ?>) each;
            if ("keep".equals(step.get("first"))) kept = state.text;
            if ("restore".equals(step.get("first"))) state.text = kept;
            if ("lose".equals(step.get("first"))) state.text = null;
            state.crashes = "state".equals(step.get("crash"));
            mark.crashes = "mark".equals(step.get("crash"));
            Iterator<?> given = ((List<?>) step.get("words")).iterator();
            boolean fills = given.hasNext();
            Table.words = bytes -> fill(bytes, given, fills);
            Object value = step.get("value") instanceof Number number ? (Object) number.doubleValue() : step.get("value");
            boolean same = step.get("document") == null; // else another way asks with this state
            OverTime asked = same ? way : OverTimeReader.read(((String) step.get("document")).getBytes(StandardCharsets.UTF_8));
            String asks = step.get("user") == null ? user : (String) step.get("user");
            try {
                String sent = asked.report(asks, ((Number) step.get("period")).intValue(), value, state, mark);
                String told = sent == null ? "null" : '"' + sent + '"';
                answers.add("report".equals(step.get("crash")) ? "{\"crashed\": true}" : "{\"sent\": " + told + "}");
            } catch (IOException crash) {
                answers.add("{\"crashed\": true}");
            } catch (Exhausted stopped) {
                answers.add("{\"stopped\": true}");
            } catch (IllegalArgumentException refused) {
                answers.add("{\"refused\": true}");
            }
        }
        return "{\"answers\": " + answers + "}";
    }

    private static void fill(byte[] bytes, Iterator<?> given, boolean fills) {
        if (!fills) throw new Exhausted();
        ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (to.hasRemaining()) to.putLong(given.hasNext() ? Long.parseUnsignedLong((String) given.next(), 16) : 0);
    }
}
