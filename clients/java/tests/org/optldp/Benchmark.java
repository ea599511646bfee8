package org.optldp;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;

/** How fast the client draws: {@code java -cp FOLDER org.optldp.Benchmark FILE}, in processor seconds, the best of five. */
final class Benchmark {
    private static final int REPORTS = 100_000;

    private Benchmark() {}

    public static void main(String[] arguments) throws IOException, TableException {
        byte[] file = Files.readAllBytes(Paths.get(arguments[0]));
        try {
            Categories categories = CategoryReader.read(file);
            String value = categories.labels.get(1);
            double report = rate(() -> categories.report(value));
            System.out.printf("%d categories%nreport: %.3g a second%n", categories.labels.size(), report);
            return;
        } catch (TableException other) {
            System.out.println("of numbers");
        }
        Table table = TableReader.read(file);
        double value = 0.63 * table.first() + 0.37 * table.last();
        double index = rate(() -> table.index(value));
        double report = rate(() -> table.report(value));
        System.out.printf("%d outputs%nindex: %.3g a second; report: %.3g a second%n", table.outputs, index, report);
    }

    private static double rate(Runnable draw) {
        long least = Long.MAX_VALUE;
        for (int run = 0; run < 5; run++) {
            long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (int i = 0; i < REPORTS; i++) draw.run();
            least = Math.min(least, ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before);
        }
        return REPORTS / (least / 1e9);
    }
}
