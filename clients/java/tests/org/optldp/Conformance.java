package org.optldp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

    private static String answer(Map<?, ?> asked) throws TableException {
        byte[] document = ((String) asked.get("document")).getBytes(StandardCharsets.UTF_8);
        if ("draw".equals(asked.get("do"))) return drawn(TableReader.read(document), (List<?>) asked.get("draws"));
        if (!"read".equals(asked.get("do"))) return "{\"skipped\": \"a task unknown to this client\"}";
        try {
            TableReader.read(document);
            return "{\"accepted\": true}";
        } catch (TableException refused) {
            return "{\"accepted\": false, \"reason\": \"" + refused.getMessage().replace("\"", "\\\"") + "\"}";
        }
    }

    private static String drawn(Table table, List<?> draws) {
        List<Double> reports = new ArrayList<>();
        for (Object draw : draws) {
            List<?> given = (List<?>) ((Map<?, ?>) draw).get("words");
            Table.words = bytes -> fill(bytes, given);
            try {
                reports.add(table.report(((Number) ((Map<?, ?>) draw).get("value")).doubleValue()));
            } catch (Exhausted stopped) {
                return "{\"stopped\": true}";
            }
        }
        return "{\"reports\": " + reports + "}";
    }

    private static void fill(byte[] bytes, List<?> given) {
        if (given.isEmpty()) throw new Exhausted();
        ByteBuffer to = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; to.hasRemaining(); i++) {
            to.putLong(i < given.size() ? Long.parseUnsignedLong((String) given.get(i), 16) : 0);
        }
    }
}
