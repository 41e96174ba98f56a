package dev.puri.embedded;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Main class of a child process: runs another main class and ends when the parent does. The parent
 * holds the other end of standard input, which the kernel closes even when the parent is killed
 * outright, so no child is left behind.
 *
 * <p>Uses the JDK alone: the child's class path is the other program's.
 */
final class ChildProcess {
    /** How long an orderly end may take after the parent is gone. */
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
                // The parent sends nothing; the stream ends with it.
            }
        } catch (IOException e) {
            // As good as the end of the stream.
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
            // Halting at once is then right too.
        }
        Runtime.getRuntime().halt(1);
    }
}
