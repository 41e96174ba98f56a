package dev.puri.cli;

/** The format of results. On the command line the names are in lower case. */
enum OutputFormat {
    /** Aligned columns, for people. */
    TABLE,
    /** One JSON object per line. */
    JSON
}
