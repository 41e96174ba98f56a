package dev.puri.embedded;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Main class of a child process: runs another main class and exits when the parent process ends. It reads standard
 * input, whose other end the parent has open. The kernel closes that end even if the parent is killed, so no child
 * stays behind.
 *
 * <p>Uses only the JDK, because the class path is that of the other program.
 */
final class ChildProcess {
    /** How long an orderly exit may take after the parent has ended. */
    private static final long GRACE_MILLIS = 5_000;

    private ChildProcess() {}

    /**
     * @param args the main class to run, then its arguments
     */
    public static void main(String[] args) throws Throwable {
        Thread watch = new Thread(ChildProcess::endWithParent, "parent-watch");
        watch.setDaemon(true);
        watch.start();
        try {
            Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object)
                    Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent writes nothing; the stream only ends.
            }
        } catch (IOException e) {
            // Treated like the end of the stream.
        }
        Thread deadline = new Thread(ChildProcess::haltAfterGrace, "parent-watch-deadline");
        deadline.setDaemon(true);
        deadline.start();
        System.exit(0);
    }

    private static void haltAfterGrace() {
        try {
            Thread.sleep(GRACE_MILLIS);
        } catch (InterruptedException e) {
            // Halts without the rest of the grace period.
        }
        Runtime.getRuntime().halt(1);
    }
}
