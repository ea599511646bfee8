package org.optldp;

import java.math.BigInteger;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.optldp.internal.Document;
import org.optldp.internal.Json;

/** What a device keeps of one way and one user: a text, and the mark beside it that shows how far the text had come. */
final class Kept {
    private static final String FORMAT = "optldp-periods/1";

    private final String owner; // a digest of the way and the user
    long number; // how often it was written
    long latest; // the last period that was asked for
    long lost; // until this period another copy may have sent reports that this one does not hold
    TreeSet<Integer> turns; // where the device drew them
    final Map<String, String> reports = new TreeMap<>(); // what was sent, by period
    final Map<String, String> draws = new TreeMap<>(); // what is remembered: of values by their place, of whole lives by its name

    private Kept(String owner) {
        this.owner = owner;
    }

    /** What a state of an owner says, or nothing yet; what a copy that was further may have sent counts as spent. */
    static Kept of(String text, String mark, String owner) {
        try {
            Kept kept = new Kept(owner);
            if (text != null) kept.read(Document.object(Json.parse(text), "format owner number latest lost turns reports draws"));
            if (mark == null) return kept;
            Map<String, Object> further = Document.object(Json.parse(mark), "number latest");
            if (count(further.get("number")) <= kept.number) return kept;
            kept.number = count(further.get("number"));
            kept.latest = Math.max(kept.latest, count(further.get("latest")));
            kept.lost = Math.max(kept.lost, count(further.get("latest")));
            return kept;
        } catch (TableException none) {
            throw altered();
        }
    }

    private static IllegalArgumentException altered() {
        return new IllegalArgumentException("the state and its mark must be this user's, as they were left, got others");
    }

    /** What is remembered as a number. */
    double number(String name) {
        try {
            return Double.parseDouble(draws.get(name));
        } catch (NumberFormatException | NullPointerException none) { // whose message would tell what the state holds
            throw altered();
        }
    }

    private static long count(Object value) throws TableException {
        return Document.whole(value, BigInteger.ZERO, TableReader.WHOLE);
    }

    private void read(Map<String, Object> document) throws TableException {
        boolean mine = FORMAT.equals(document.get("format")) && owner.equals(document.get("owner"));
        TableException.need(mine, "a state must be of this way and this user");
        number = count(document.get("number"));
        latest = count(document.get("latest"));
        lost = count(document.get("lost"));
        if (document.get("turns") != null) {
            turns = new TreeSet<>();
            for (Object turn : Document.list(document.get("turns"))) turns.add((int) count(turn));
        }
        for (Map.Entry<String, Object> each : Document.object(document.get("reports"), null).entrySet()) {
            reports.put(each.getKey(), Document.text(each.getValue()));
        }
        for (Map.Entry<String, Object> each : Document.object(document.get("draws"), null).entrySet()) {
            draws.put(each.getKey(), Document.text(each.getValue()));
        }
    }

    String mark() {
        return "{\"number\": " + number + ", \"latest\": " + latest + "}";
    }

    @Override
    public String toString() {
        return "{\"format\": \"" + FORMAT + "\", \"owner\": \"" + owner + "\", \"number\": " + number
                + ", \"latest\": " + latest + ", \"lost\": " + lost + ", \"turns\": " + turns
                + ", \"reports\": " + written(reports) + ", \"draws\": " + written(draws) + "}";
    }

    /** Neither periods and places nor reports have characters that JSON escapes. */
    private static String written(Map<String, String> texts) {
        StringBuilder made = new StringBuilder("{");
        texts.forEach((name, text) -> made.append(made.length() > 1 ? ", " : "").append('"' + name + "\": \"" + text + '"'));
        return made.append('}').toString();
    }
}
