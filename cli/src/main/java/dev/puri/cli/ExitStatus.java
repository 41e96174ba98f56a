package dev.puri.cli;

/** The exit statuses of all commands. They are part of the public contract. */
final class ExitStatus {
    /** The command succeeded. */
    static final int DONE = 0;

    /** The command failed: a server is unreachable, a resource is in use, an error occurred, or copies differ. */
    static final int FAILED = 1;

    /** The command line or a setting is wrong. */
    static final int USAGE = 2;

    /** The command succeeded, but some of the input was malformed, refused or not found. */
    static final int PARTLY = 3;

    private ExitStatus() {}
}
