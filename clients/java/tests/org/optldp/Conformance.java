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

    private static boolean isOfCategories(byte[] document) {
        try {
            return Json.parse(new String(document, StandardCharsets.UTF_8)) instanceof Map<?, ?> file
                    && "optldp-bundle/1".equals(file.get("format")) && !"floor".equals(file.get("kind"));
        } catch (TableException broken) {
            return false; // the table's reader says why
        }
    }

    /** Reads a file of either sort: bundles but the floor form are categories'. */
    private static Draw read(byte[] document) throws TableException {
        if (isOfCategories(document)) {
            Categories categories = CategoryReader.read(document);
            return value -> "\"" + categories.report((String) value) + "\"";
        }
        Table table = TableReader.read(document);
        return value -> Double.toString(table.report(((Number) value).doubleValue()));
    }

    private static String answer(Map<?, ?> asked) throws TableException {
        byte[] document = ((String) asked.get("document")).getBytes(StandardCharsets.UTF_8);
        if ("draw".equals(asked.get("do"))) return drawn(read(document), (List<?>) asked.get("draws"));
        if (!"read".equals(asked.get("do"))) return "{\"skipped\": \"a task unknown to this client\"}";
        try {
            read(document);
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

    private static void fill(byte[] bytes, Iterator<?> given, boolean fills) {
        if (!fills) throw new Exhausted();
        ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (to.hasRemaining()) to.putLong(given.hasNext() ? Long.parseUnsignedLong((String) given.next(), 16) : 0);
    }
}
