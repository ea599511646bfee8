package org.optldp.internal;

import static org.optldp.TableException.need;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.optldp.TableException;

/**
 * JSON, strictly: keys of an object differ and numbers fit in doubles. Whole numbers, those without point or exponent, become
 * BigInteger, others Double; lists and objects List and Map.
 */
public final class Json {
    private static final int DEEPEST = 16;
    private static final String BROKEN = "the file must be whole JSON text, got something else";
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    public static Object parse(String text) throws TableException {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.skipSpace();
        need(reader.at == text.length(), BROKEN);
        return value;
    }

    /** The next character; NUL, which JSON has nowhere, at the end. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private void skipSpace() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') at++;
    }

    private boolean takes(char wanted) {
        skipSpace();
        if (peek() != wanted || at == text.length()) return false;
        at++;
        return true;
    }

    private Object value(int depth) throws TableException {
        need(depth <= DEEPEST, "the document must not be nested deeper than 16");
        if (takes('[')) return list(depth);
        if (takes('{')) return object(depth);
        if (peek() == '"') return string();
        if (text.startsWith("null", at)) {
            at += 4;
            return null;
        }
        if (text.startsWith("true", at)) {
            at += 4;
            return true;
        }
        if (text.startsWith("false", at)) {
            at += 5;
            return false;
        }
        return number();
    }

    private List<Object> list(int depth) throws TableException {
        List<Object> made = new ArrayList<>();
        if (takes(']')) return made;
        do {
            made.add(value(depth + 1));
        } while (takes(','));
        need(takes(']'), BROKEN);
        return made;
    }

    private Map<String, Object> object(int depth) throws TableException {
        Map<String, Object> made = new LinkedHashMap<>();
        if (takes('}')) return made;
        do {
            skipSpace();
            need(peek() == '"', BROKEN);
            String key = string();
            need(!made.containsKey(key), "keys must not repeat, got one twice");
            need(takes(':'), BROKEN);
            made.put(key, value(depth + 1));
        } while (takes(','));
        need(takes('}'), BROKEN);
        return made;
    }

    private String string() throws TableException {
        StringBuilder made = new StringBuilder();
        for (at++; peek() != '"'; ) {
            need(peek() >= 0x20, BROKEN);
            made.append(peek() == '\\' ? escape() : text.charAt(at++));
        }
        at++;
        for (int i = 0; i < made.length(); i++) {
            boolean pair = Character.isHighSurrogate(made.charAt(i))
                    && i + 1 < made.length() && Character.isLowSurrogate(made.charAt(i + 1));
            if (pair) i++;
            else need(!Character.isSurrogate(made.charAt(i)), "text must be Unicode, got half a surrogate pair");
        }
        return made.toString();
    }

    private char escape() throws TableException {
        at++;
        int known = peek() == '\0' ? -1 : "\"\\/bfnrt".indexOf(peek());
        if (known >= 0) {
            at++;
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        need(peek() == 'u' && at + 5 <= text.length(), BROKEN);
        int point = 0;
        for (int i = 1; i <= 4; i++) {
            int digit = "0123456789abcdef0123456789ABCDEF".indexOf(text.charAt(at + i));
            need(digit >= 0, BROKEN);
            point = 16 * point + digit % 16;
        }
        at += 5;
        return (char) point;
    }

    private int digits() {
        int before = at;
        while (peek() >= '0' && peek() <= '9') at++;
        return at - before;
    }

    private Object number() throws TableException {
        int start = at;
        if (peek() == '-') at++;
        int first = at;
        int many = digits();
        need(many > 0 && (many == 1 || text.charAt(first) != '0'), BROKEN);
        boolean whole = true;
        if (peek() == '.') {
            whole = false;
            at++;
            need(digits() > 0, BROKEN);
        }
        if (peek() == 'e' || peek() == 'E') {
            whole = false;
            at++;
            if (peek() == '+' || peek() == '-') at++;
            need(digits() > 0, BROKEN);
        }
        String token = text.substring(start, at);
        double number = Double.parseDouble(token) + 0.0;
        need(Double.isFinite(number), "numbers must fit in a double, got a larger one");
        if (whole) return new BigInteger(token);
        return number;
    }
}
