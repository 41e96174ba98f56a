package dev.puri.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The processor time of a topology in this process that has nothing to do, by its threads: the broker's do not count. */
final class IdleTopology {
    private IdleTopology() {}

    /**
     * Measures for a while.
     *
     * @param applicationId stands in the names of all its threads
     * @return in percent of one core
     */
    static double percentOfACore(String applicationId, Duration duration) throws InterruptedException {
        long cpu = cpuNanos(applicationId);
        long begun = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(duration.toNanos());
        return 100.0 * (cpuNanos(applicationId) - cpu) / (System.nanoTime() - begun);
    }

    private static long cpuNanos(String applicationId) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long nanos = 0;
        int found = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().contains(applicationId)) {
                nanos += threads.getThreadCpuTime(thread.getThreadId());
                found++;
            }
        }
        if (found == 0) {
            throw new IllegalStateException("no thread is named after " + applicationId);
        }
        return nanos;
    }
}
