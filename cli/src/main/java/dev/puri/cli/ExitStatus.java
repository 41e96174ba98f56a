package dev.puri.cli;

/** What the command's exit status says; the same for all commands, and part of the contract. */
final class ExitStatus {
    /** Everything asked for was done. */
    static final int DONE = 0;

    /** It could not be done: something is out of reach, in the way, or broken. */
    static final int FAILED = 1;

    /** The command line or a setting is wrong. */
    static final int USAGE = 2;

    /** It was done, but some of the input was malformed, refused or not found. */
    static final int PARTLY = 3;

    private ExitStatus() {}
}
