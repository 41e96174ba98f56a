package dev.puri.embedded;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Main class of a child process. It runs another main class and exits when the parent process ends. To detect this, it
 * reads standard input, a pipe whose other end the parent holds open. The kernel closes the parent's end even if the
 * parent is killed. If the system property {@value #LOCK_FILE_PROPERTY} names a file, this process locks that file
 * until it ends, so that the next child can wait for its end.
 *
 * <p>This class uses only the JDK, because the class path of the child contains nothing else of this project.
 */
final class ChildMain {
    /** System property with the path of the lock file. Without it, the child locks nothing. */
    static final String LOCK_FILE_PROPERTY = "puri.child.lock-file";

    /** Maximum duration of a clean exit after the parent has ended. */
    private static final long GRACE_MILLIS = 5_000;

    private ChildMain() {}

    /**
     * Runs another main class.
     *
     * @param args the name of the main class, then its arguments
     */
    public static void main(String[] args) throws Throwable {
        Thread watcher = new Thread(ChildMain::exitWithParent, "parent-watch");
        watcher.setDaemon(true);
        watcher.start();
        String lockFile = System.getProperty(LOCK_FILE_PROPERTY);
        if (lockFile == null) {
            run(args);
            return;
        }
        try (FileChannel channel =
                FileChannel.open(Path.of(lockFile), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock();
            run(args);
        }
    }

    private static void run(String[] args) throws Throwable {
        try {
            Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object)
                    Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void exitWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent writes nothing. The stream ends when the parent ends.
            }
        } catch (IOException e) {
            // An error is treated like the end of the stream.
        }
        Thread halter = new Thread(ChildMain::haltAfterGrace, "parent-watch-deadline");
        halter.setDaemon(true);
        halter.start();
        System.exit(0);
    }

    private static void haltAfterGrace() {
        try {
            Thread.sleep(GRACE_MILLIS);
        } catch (InterruptedException e) {
            // The process halts at once.
        }
        Runtime.getRuntime().halt(1);
    }
}
