package dev.puri.cli;

import dev.puri.client.CollectionRegistryException;
import dev.puri.client.PublishException;
import dev.puri.embedded.EmbeddedException;
import dev.puri.http.CannotListenException;
import dev.puri.http.InvalidSettingsException;
import dev.puri.registry.WrongTopicsException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The {@code puri} command. */
public final class Main {
    private Main() {}

    /** Runs the command line and ends the process with its {@linkplain ExitStatus status}. */
    public static void main(String[] args) {
        System.exit(run(Console.ofProcess(), args));
    }

    /** Runs the command line and returns its {@linkplain ExitStatus status}. */
    static int run(Console console, String... args) {
        PuriCommand puri = new PuriCommand(console);
        CommandLine line = new CommandLine(puri)
                .setOut(console.out())
                .setErr(console.err())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(100)
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        console.outIsTerminal() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF))
                .setExecutionStrategy(parsed -> execute(puri, parsed))
                .setExecutionExceptionHandler((e, command, parsed) -> report(e, puri));
        for (CommandLine subcommand : line.getSubcommands().values()) {
            if (subcommand.getCommandSpec().userObject() instanceof ServerCommand<?>) {
                ServerCommand.addOptions(subcommand.getCommandSpec());
            }
        }
        int status = line.execute(args);
        console.out().flush();
        console.err().flush();
        return status;
    }

    private static int execute(PuriCommand puri, ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        boolean serves = last.commandSpec().userObject() instanceof Subcommand subcommand && subcommand.serves();
        Logging.set(puri.verbosity(), serves);
        return new CommandLine.RunLast().execute(parsed);
    }

    /** What the world did is said in a sentence; what we did wrong is shown whole. */
    private static int report(Exception thrown, PuriCommand puri) {
        Throwable e = thrown;
        while ((e instanceof ExecutionException || e instanceof CompletionException) && e.getCause() != null) {
            e = e.getCause();
        }
        int status = switch (e) {
            case CommandException known -> known.exitStatus();
            case InvalidSettingsException mistakes -> ExitStatus.USAGE;
            default -> ExitStatus.FAILED;
        };
        if (isOfTheWorld(e) && puri.verbosity() == 0) {
            String message = String.valueOf(e.getMessage());
            puri.console().say("puri: " + message.replace("\n", "\n  "));
        } else {
            e.printStackTrace(puri.console().err());
        }
        return status;
    }

    private static boolean isOfTheWorld(Throwable e) {
        return switch (e) {
            case CommandException known -> true;
            case InvalidSettingsException mistakes -> true;
            case CollectionRegistryException registry -> true;
            case PublishException publish -> true;
            case EmbeddedException embedded -> true;
            case CannotListenException listener -> true;
            case KafkaException kafka -> true;
            case WrongTopicsException topics -> true;
            default -> false;
        };
    }
}
