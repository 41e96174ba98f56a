package dev.puri.cli;

/** How results are printed; spelled in lower case on the command line. */
enum OutputFormat {
    /** Columns for people. */
    TABLE,
    /** One JSON object a line. */
    JSON
}
