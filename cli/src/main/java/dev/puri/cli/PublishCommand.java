package dev.puri.cli;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "publish",
        header = "Publish events, one JSON object a line.",
        description = {
            "",
            "  {\"type\":\"created\",\"puri\":…,\"owner\":…,\"shard\":…,\"uuid\":…,\"handle\":…,\"attributes\":{…}}",
            "  {\"type\":\"moved\",\"puri\":…,\"shard\":…,\"owner\":…}",
            "  {\"type\":\"described\",\"puri\":…,\"attributes\":{…}}",
            "  {\"type\":\"merged\",\"puri\":…,\"into\":…}",
            "  {\"type\":\"deleted\",\"puri\":…}   {\"type\":\"erased\",\"puri\":…}",
            "",
            "Each may have eventId, occurredAt, source, expectedEpoch and, as a guard, uuid. A creation's uuid"
                    + " and handle are minted when absent, the handle where the collection is registered;"
                    + " \"handle\":null asks for none. A bad line is reported with its number and reason, and the"
                    + " rest goes on.",
            ""
        })
final class PublishCommand extends Subcommand {
    @Option(
            names = {"-f", "--file"},
            required = true,
            paramLabel = "FILE|-",
            description = "The lines; - reads standard input.")
    private String file = "";

    @Option(names = "--wait", description = "Wait until the registry has decided about every event, and sum up.")
    private boolean wait;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "Give up when nothing happens for so long (default: 60).")
    private int timeoutSeconds = 60;

    @Option(
            names = "--echo",
            description = {
                "Print each event, with everything that was minted, before it is sent. What is printed can"
                        + " be published again and changes nothing. The sum then goes to stderr."
            })
    private boolean echo;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (timeoutSeconds < 1) {
            throw CommandException.usage("--timeout: at least 1 second, not " + timeoutSeconds);
        }
        Publication.Options options = new Publication.Options(wait, echo, Duration.ofSeconds(timeoutSeconds));
        try (InputStream input = open()) {
            Publication.Summary summary = new Publication(console(), settings(), options).publish(input);
            print(summary);
            return summary.exitStatus();
        }
    }

    private InputStream open() {
        if (file.equals("-")) {
            return console().in();
        }
        if (Files.isDirectory(Path.of(file))) {
            throw CommandException.failed(file + " is a directory; name a file of event lines, or - for stdin", null);
        }
        try {
            return new BufferedInputStream(Files.newInputStream(Path.of(file)));
        } catch (IOException e) {
            throw CommandException.unreadable(file, e);
        }
    }

    private void print(Publication.Summary summary) {
        if (asJson()) {
            String line = Json.print(summary.toJson());
            if (echo) {
                console().say(line);
            } else {
                console().out().println(line);
            }
            return;
        }
        Table table = summary.toTable();
        table.print(echo ? console().err() : console().out());
    }
}
