package dev.puri.cli;

/** How much is logged. To be set before the first logger is made, for its configuration reads it once. */
final class Logging {
    private Logging() {}

    /**
     * @param verbosity how often {@code -v} was given
     * @param serves whether the command is a server, which tells what it does without being asked
     */
    static void set(int verbosity, boolean serves) {
        int own = verbosity + (serves ? 1 : 0);
        System.setProperty("puri.log.own", level(own));
        // Kafka warns at length of what heals by itself; its errors are worth a line.
        System.setProperty("puri.log.others", verbosity == 0 ? "ERROR" : level(verbosity - 1));
        System.setProperty("puri.log.appends", verbosity == 0 ? "OFF" : level(verbosity - 1));
    }

    private static String level(int verbosity) {
        return switch (verbosity) {
            case 0 -> "WARN";
            case 1 -> "INFO";
            default -> "DEBUG";
        };
    }
}
