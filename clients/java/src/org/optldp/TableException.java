package org.optldp;

/** A file that cannot be used; the message is one line and says the first fault. */
public final class TableException extends Exception {
    private static final long serialVersionUID = 1L;

    public TableException(String message) {
        super(message);
    }

    public static void need(boolean holds, String message) throws TableException {
        if (!holds) throw new TableException(message);
    }
}
