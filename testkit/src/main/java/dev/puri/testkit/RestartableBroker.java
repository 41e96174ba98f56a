package dev.puri.testkit;

/** A broker that a test may stop and start again; its records and its address stay. */
public interface RestartableBroker extends Broker, AutoCloseable {
    /** Stops it in order; clients find nobody at its address. Does nothing when it is stopped. */
    void stop();

    /** Starts it again and returns when it serves requests. Does nothing when it runs. */
    void start();

    /** Stops it and removes its records. */
    @Override
    void close();
}
