package org.optldp;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.function.DoubleUnaryOperator;

/** How fast the client draws: {@code java -cp FOLDER org.optldp.Benchmark FILE}, in processor seconds, the best of five. */
final class Benchmark {
    private static final int REPORTS = 200_000;

    private Benchmark() {}

    public static void main(String[] arguments) throws IOException, TableException {
        Table table = TableReader.read(Files.readAllBytes(Paths.get(arguments[0])));
        double value = 0.63 * table.first() + 0.37 * table.last();
        System.out.printf("%d outputs%n", table.outputs);
        System.out.printf("index: %.3g a second; report: %.3g a second%n", rate(table::index, value), rate(table::report, value));
    }

    private static double rate(DoubleUnaryOperator draw, double value) {
        long least = Long.MAX_VALUE;
        for (int run = 0; run < 5; run++) {
            long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (int i = 0; i < REPORTS; i++) draw.applyAsDouble(value);
            least = Math.min(least, ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before);
        }
        return REPORTS / (least / 1e9);
    }
}
