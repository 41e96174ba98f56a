package dev.puri.cli;

import dev.puri.cli.io.FileErrors;
import dev.puri.client.CollectionRegistryException;
import dev.puri.client.PublishException;
import dev.puri.embedded.EmbeddedException;
import dev.puri.http.CannotListenException;
import dev.puri.registry.WrongTopicsException;
import dev.puri.settings.InvalidSettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
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
                .setExecutionExceptionHandler((e, command, parsed) -> report(e, puri, parsed));
        for (CommandLine subcommand : line.getSubcommands().values()) {
            if (subcommand.getCommandSpec().userObject() instanceof ServerCommand<?>) {
                ServerCommand.addOptions(subcommand.getCommandSpec());
            }
        }
        int status = line.execute(args);
        // Flushes too.
        if (console.out().checkError() && status != ExitStatus.FAILED && status != ExitStatus.USAGE) {
            console.say("puri: " + Console.OUT_FAILED);
            status = ExitStatus.FAILED;
        }
        console.err().flush();
        return status;
    }

    private static int execute(PuriCommand puri, ParseResult parsed) {
        boolean isServer = commandOf(parsed) instanceof Subcommand subcommand && subcommand.isServer();
        try {
            Logging.configure(
                    puri.verbosity(), isServer, puri.console().environment().get(Logging.FORMAT_VARIABLE));
        } catch (CommandException e) {
            return report(e, puri, parsed);
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /**
     * Prints a failure and returns the exit status. Of an expected failure only the message is printed. Of a bug the
     * stack trace is printed; with {@code -v}, of every failure.
     */
    private static int report(Exception thrown, PuriCommand puri, ParseResult parsed) {
        Throwable e = thrown;
        while ((e instanceof ExecutionException || e instanceof CompletionException) && e.getCause() != null) {
            e = e.getCause();
        }
        if (isExpected(e) && puri.verbosity() == 0) {
            String message = messageWithRemedy(e, parsed);
            puri.console().say("puri: " + message.replace("\n", "\n  "));
        } else {
            puri.console().clearProgress();
            e.printStackTrace(puri.console().err());
        }
        return status(e);
    }

    private static int status(Throwable e) {
        return switch (e) {
            case CommandException failure -> failure.exitStatus();
            case InvalidSettingsException invalid -> ExitStatus.USAGE;
            default -> {
                ConfigException mistake = BrokerRequests.find(ConfigException.class, e);
                // The name of a broker may be resolvable later.
                yield mistake == null || contains(mistake, "No resolvable bootstrap urls")
                        ? ExitStatus.FAILED
                        : ExitStatus.USAGE;
            }
        };
    }

    private static boolean contains(ConfigException e, String text) {
        return String.valueOf(e.getMessage()).contains(text);
    }

    /** Returns the message of a failure. If brokers are unreachable, it contains their addresses and a remedy. */
    private static String messageWithRemedy(Throwable e, ParseResult parsed) {
        String message = message(e);
        if (e instanceof KafkaException && e.getCause() instanceof KafkaException cause && cause.getMessage() != null) {
            message = message + ": " + cause.getMessage();
        }
        if (!isUnreachable(e) || !(commandOf(parsed) instanceof Subcommand command) || !command.isClient()) {
            return message;
        }
        String brokers = command.settings().bootstrapServer();
        if (BrokerRequests.isTimeout(e) && BrokerRequests.acceptsConnections(brokers)) {
            return BrokerRequests.timeoutMessage(brokers, e);
        }
        return (message.contains(brokers) ? message : "no broker answers at " + brokers + " (" + message + ")")
                + "; start one with puri up, or set its address with --bootstrap-server";
    }

    /** Returns the message of a failure. That of a failure of a file may be only the name of the file. */
    private static String message(Throwable e) {
        return switch (e) {
            case FileSystemException failure -> failure.getFile() + ": " + FileErrors.reason(failure);
            case IOException failure -> FileErrors.reason(failure);
            case UncheckedIOException failure -> message(Objects.requireNonNull(failure.getCause()));
            default -> String.valueOf(e.getMessage());
        };
    }

    /** Returns the innermost subcommand of the command line. */
    private static Object commandOf(ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        return last.commandSpec().userObject();
    }

    /** Whether a failure means that the brokers are unreachable or their address is invalid. */
    private static boolean isUnreachable(Throwable e) {
        ConfigException mistake = BrokerRequests.find(ConfigException.class, e);
        return !(e instanceof CommandException)
                && (mistake == null ? BrokerRequests.isTimeout(e) : contains(mistake, "bootstrap.servers"));
    }

    private static boolean isExpected(Throwable e) {
        return switch (e) {
            case CommandException failure -> true;
            case InvalidSettingsException invalid -> true;
            case CollectionRegistryException registry -> true;
            case PublishException publish -> true;
            case EmbeddedException embedded -> true;
            case CannotListenException listener -> true;
            case KafkaException kafka -> true;
            case IOException io -> true;
            case UncheckedIOException io -> true;
            case WrongTopicsException topics -> true;
            default -> false;
        };
    }
}
