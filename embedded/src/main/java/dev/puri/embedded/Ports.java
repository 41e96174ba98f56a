package dev.puri.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** TCP ports of the loopback interface. */
final class Ports {
    static final String HOST = "127.0.0.1";

    private static final int HIGHEST = 65_535;

    private Ports() {}

    /** Returns a free port, which another process may take at any time. */
    static int free() {
        return bind(0, "a listener");
    }

    /**
     * @param what the listener that needs the port, for messages
     * @throws EmbeddedException if the port is invalid or in use
     */
    static void requireFree(int port, String what) {
        if (port < 0 || port > HIGHEST) {
            throw new EmbeddedException(what + " cannot listen on port " + port + ": ports are 0 to " + HIGHEST);
        }
        bind(port, what);
    }

    private static int bind(int port, String what) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new EmbeddedException(
                    what + " cannot listen on " + HOST + ":" + port + ": " + e.getMessage()
                            + "; stop what listens there or choose another port",
                    e);
        }
    }
}
