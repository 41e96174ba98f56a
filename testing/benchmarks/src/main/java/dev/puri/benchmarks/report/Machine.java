package dev.puri.benchmarks.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** Describes this machine in one line. */
final class Machine {
    private Machine() {}

    /** Returns processors, memory, system, Java and the load average. */
    static String describe() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        String memory = system instanceof com.sun.management.OperatingSystemMXBean extended
                ? (extended.getTotalMemorySize() >> 30) + " GiB"
                : "memory unknown";
        return "%d × %s, %s, %s %s, Java %s, load average %s"
                .formatted(
                        Runtime.getRuntime().availableProcessors(),
                        processor(),
                        memory,
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        Runtime.version(),
                        load());
    }

    /** Returns the load average of the last minute, this process included. */
    static String load() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return load < 0 ? "unknown" : String.format(Locale.ROOT, "%.1f", load);
    }

    private static String processor() {
        Path cpuInfo = Path.of("/proc/cpuinfo");
        if (Files.isReadable(cpuInfo)) {
            try (Stream<String> lines = Files.lines(cpuInfo)) {
                return lines.filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse(System.getProperty("os.arch"));
            } catch (IOException e) {
                // The architecture is used instead.
            }
        }
        return System.getProperty("os.arch");
    }
}
