package dev.puri.cli;

import dev.puri.settings.Settings;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Base class of subcommands, with access to the console and the shared options. */
abstract class Subcommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * Runs the command.
     *
     * @return one of {@link ExitStatus}
     * @throws CommandException if the command fails
     */
    @Override
    public abstract Integer call() throws Exception;

    /** Whether the command is a server, which runs until the process is terminated. */
    boolean serves() {
        return false;
    }

    /**
     * Refuses arguments that the JVM could not decode, because they would be other names.
     *
     * @throws CommandException if the locale is not UTF-8 and an argument is not ASCII
     */
    static void requireText(Iterable<String> arguments) {
        requireText(arguments, System.getProperty("sun.jnu.encoding", "UTF-8"));
    }

    static void requireText(Iterable<String> arguments, String encoding) {
        boolean isUtf8 = encoding.equalsIgnoreCase("UTF-8");
        for (String argument : arguments) {
            if (argument.indexOf('\uFFFD') >= 0 || (!isUtf8 && argument.chars().anyMatch(c -> c > 127))) {
                throw CommandException.usage("an argument is not text in this locale; set LC_ALL=C.UTF-8");
            }
        }
    }

    /** Whether it does not connect to configured servers, or is a server, which reports unreachable ones itself. */
    final boolean startsItsOwnServers() {
        return serves() || this instanceof UpCommand || this instanceof DemoCommand;
    }

    final PuriCommand puri() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return (PuriCommand) spec.root().userObject();
    }

    final Console console() {
        return puri().console();
    }

    final boolean asJson() {
        return puri().output() == OutputFormat.JSON;
    }

    final Cluster cluster() {
        return new Cluster(console(), settings(), Cluster.DEFAULT_TIMEOUT);
    }

    final CliSettings settings() {
        Map<String, String> flags = puri().flags();
        return Settings.of(flags, console().environment(), null)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(CliSettings.class);
    }
}
