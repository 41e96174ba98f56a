package dev.puri.cli;

import dev.puri.settings.Settings;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What all subcommands share: where they print, and the options that stand before or after their names. */
abstract class Subcommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * Runs the command.
     *
     * @return one of {@link ExitStatus}
     * @throws CommandException when it cannot be done
     */
    @Override
    public abstract Integer call() throws Exception;

    /** Whether it runs until it is told to stop, and logs what it does. */
    boolean serves() {
        return false;
    }

    /**
     * Refuses arguments that the JVM could not make text of, for their names would be others.
     *
     * @throws CommandException when the locale is not one of UTF-8 and an argument needs it
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

    /** Whether it connects to nothing that its settings name, or is a server, which says that itself. */
    final boolean bringsItsOwn() {
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
        return new Cluster(console(), settings(), Cluster.PATIENCE);
    }

    final CliSettings settings() {
        Map<String, String> flags = puri().flags();
        return Settings.of(flags, console().environment(), null)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(CliSettings.class);
    }
}
