package dev.puri.cli;

import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.settings.Secret;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Base class of subcommands. It gives access to the console and the shared options. */
abstract class Subcommand implements Callable<Integer> {
    @Spec
    CommandSpec spec = CommandSpec.create();

    /**
     * Runs the command.
     *
     * @return the exit status, a constant of {@link ExitStatus}
     * @throws CommandException if the command fails
     */
    @Override
    public abstract Integer call() throws Exception;

    /** Whether the command runs one server until the process is terminated. */
    boolean isServer() {
        return false;
    }

    /**
     * Refuses arguments that the JVM could not decode correctly, because they would name other objects.
     *
     * @throws CommandException if an argument contains the replacement character, or is not ASCII although the locale
     *     is not UTF-8
     */
    static void requireDecodable(Iterable<String> arguments) {
        requireDecodable(arguments, System.getProperty("sun.jnu.encoding", "UTF-8"));
    }

    static void requireDecodable(Iterable<String> arguments, String encoding) {
        boolean isUtf8 = encoding.equalsIgnoreCase("UTF-8");
        for (String argument : arguments) {
            if (argument.indexOf('\uFFFD') >= 0 || (!isUtf8 && argument.chars().anyMatch(c -> c > 127))) {
                throw CommandException.usage(
                        "an argument contains characters that this locale cannot decode; set LC_ALL=C.UTF-8");
            }
        }
    }

    /** Whether the command connects to servers that the user has started, and is not a server itself. */
    final boolean isClient() {
        return !isServer() && !(this instanceof UpCommand) && !(this instanceof DemoCommand);
    }

    final PuriCommand rootCommand() {
        return (PuriCommand) spec.root().userObject();
    }

    final Console console() {
        return rootCommand().console();
    }

    /**
     * Opens an input file.
     *
     * @param file the name of the file; {@code -} for standard input
     * @param content the expected content, for the message about a directory
     * @throws CommandException if the file cannot be read
     */
    final InputStream openInput(String file, String content) {
        if (file.equals("-")) {
            return console().in();
        }
        if (Files.isDirectory(Path.of(file))) {
            throw CommandException.failed(file + " is a directory; specify " + content + ", or - for stdin");
        }
        try {
            return new BufferedInputStream(Files.newInputStream(Path.of(file)));
        } catch (IOException e) {
            throw CommandException.unreadable(file, e);
        }
    }

    /** Prints a message to stderr. */
    final void say(String message) {
        console().say(message);
    }

    /** Prints a line of the result to stdout. */
    final void println(String line) {
        console().out().println(line);
    }

    /** Prints a value as a line of JSON to stdout. */
    final void printJson(Object value) {
        println(Json.toText(value));
    }

    final boolean asJson() {
        return rootCommand().output() == OutputFormat.JSON;
    }

    final BrokerRequests brokerRequests() {
        return new BrokerRequests(console(), settings(), BrokerRequests.DEFAULT_TIMEOUT);
    }

    final CliSettings settings() {
        return PuriCommand.settings(rootCommand().flags(), console().environment(), null)
                .read(CliSettings.class);
    }

    /**
     * Returns a client of the resolver. It waits longer than a service would, because nobody waits for one row.
     *
     * @throws CommandException if the URL or the token is wrong
     */
    final ResolverClient openResolver() {
        CliSettings settings = settings();
        try {
            return ResolverClient.open(ResolverOptions.at(settings.resolver().toString())
                    .token(settings.token().map(Secret::value).orElse(null))
                    .deadline(Duration.ofSeconds(30))
                    .build());
        } catch (IllegalArgumentException e) {
            throw CommandException.usage(e.getMessage(), e);
        }
    }

    /** Returns an admin client, which the caller closes. */
    final Admin admin() {
        return Admin.create(settings().interactiveProperties());
    }

    /**
     * Stores declarations, and returns which ones have changed.
     *
     * @throws CommandException if one of them conflicts; then none is stored
     */
    final DeclarationResult.Changes declare(List<Declaration> declarations) {
        return switch (brokerRequests()
                .retry(
                        "the cluster to store the declarations",
                        () -> settings().collections().apply(declarations))) {
            case DeclarationResult.Conflicts conflicts ->
                throw CommandException.failed("nothing was written:\n" + conflicts);
            case DeclarationResult.Changes changes -> changes;
        };
    }

    /** Returns the application id of the topology. */
    final String applicationId() {
        return topologySettings().streamsApplicationId();
    }

    /** Returns the settings of the topology, from environment variables and not from the command line. */
    final StreamsSettings topologySettings() {
        return PuriCommand.settings(Map.of(), console().environment(), null).read(StreamsSettings.class);
    }
}
