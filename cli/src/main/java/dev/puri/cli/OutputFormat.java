package dev.puri.cli;

/** The format of results; in lower case on the command line. */
enum OutputFormat {
    /** Columns for people. */
    TABLE,
    /** One JSON object per line. */
    JSON
}
