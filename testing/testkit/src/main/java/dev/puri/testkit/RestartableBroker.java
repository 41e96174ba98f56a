package dev.puri.testkit;

/** A broker that a test may stop and start again. A restart keeps the records and the address. */
public interface RestartableBroker extends Broker, AutoCloseable {
    /** Shuts the broker down; clients are then refused the connection. Does nothing if the broker is stopped. */
    void stop();

    /** Starts the broker again and returns when it serves requests. Does nothing if the broker is running. */
    void start();

    /** Stops the broker and removes its records. */
    @Override
    void close();
}
