package dev.puri.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Finds and checks free TCP ports of the loopback interface. */
final class Ports {
    static final String HOST = "127.0.0.1";

    private static final int MAX_PORT = 65_535;

    private Ports() {}

    /** Returns a free port. Another process may take the port at any time. */
    static int free() {
        return bind(0, "a listener");
    }

    /**
     * Checks that a port is valid and free; 0 always is.
     *
     * @param listener the server that needs the port, for messages
     * @throws EmbeddedException if the port is invalid or in use
     */
    static void requireFree(int port, String listener) {
        if (port < 0 || port > MAX_PORT) {
            throw new EmbeddedException(
                    listener + " cannot listen on port " + port + ": a port must be 0 to " + MAX_PORT);
        }
        bind(port, listener);
    }

    /** Binds a port, releases it, and returns its number. */
    private static int bind(int port, String listener) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new EmbeddedException(
                    listener + " cannot listen on " + HOST + ":" + port + ": " + e.getMessage()
                            + "; stop the process that uses the port, or choose another port",
                    e);
        }
    }
}
