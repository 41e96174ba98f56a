package dev.puri.testkit;

import java.io.IOException;

/**
 * Main class of the child process that an OpenSearch node runs in. Uses the JDK alone, and the node by
 * reflection: its jars are on the child's class path and on no other.
 */
final class OpenSearchChild {
    private static final String RUNNER = "org.codelibs.opensearch.runner.OpenSearchRunner";

    private OpenSearchChild() {}

    /**
     * @param args the node's home, its folder of settings, and its port or 0 for any
     */
    public static void main(String[] args) {
        // Not a daemon, because the node's threads are daemons and would not keep the process running.
        new Thread(OpenSearchChild::endWithParent, "parent-watch").start();
        try {
            run(args[0], args[1], Integer.parseInt(args[2]));
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void run(String home, String config, int port) throws ReflectiveOperationException {
        Class<?> type = Class.forName(RUNNER);
        Object runner = type.getConstructor().newInstance();
        // Otherwise the runner searches for a free port from this one on.
        type.getMethod("setMaxHttpPort", int.class).invoke(runner, -1);
        String[] options = {
            "-basePath",
            home,
            "-confPath",
            config,
            "-numOfNode",
            "1",
            "-clusterName",
            "puri-test",
            // The first node's port is one above.
            "-baseHttpPort",
            Integer.toString(port - 1)
        };
        type.getMethod("build", String[].class).invoke(runner, (Object) options);
    }

    /** The parent holds the other end of standard input, which the kernel closes even when it is killed outright. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent sends nothing; the stream ends with it.
            }
        } catch (IOException e) {
            // As good as the end of the stream.
        }
        Runtime.getRuntime().halt(1);
    }
}
