package dev.puri.testkit;

import java.io.IOException;

/**
 * Main class of the child process in which an OpenSearch node runs. It uses only the JDK, and calls the node by
 * reflection, because the jars of the node are only on the class path of the child.
 */
final class OpenSearchChild {
    private static final String RUNNER = "org.codelibs.opensearch.runner.OpenSearchRunner";

    private OpenSearchChild() {}

    /**
     * Starts the node.
     *
     * @param args the home folder of the node, the folder of its settings, and its port or 0 for any free port
     */
    public static void main(String[] args) {
        // The new thread is not a daemon: it keeps the process running, because the node has only daemon threads.
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
        // With -1 the runner uses exactly the configured port. By default it also tries the ports after it.
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
            // The port of the first node is the base port plus one.
            "-baseHttpPort",
            Integer.toString(port - 1)
        };
        type.getMethod("build", String[].class).invoke(runner, (Object) options);
    }

    /**
     * Halts this process when the parent process ends. The parent holds the other end of standard input open. The
     * kernel closes it even if the parent is killed.
     */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent writes nothing. The stream ends when the parent ends.
            }
        } catch (IOException e) {
            // An error is treated like the end of the stream.
        }
        Runtime.getRuntime().halt(1);
    }
}
