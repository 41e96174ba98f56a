package dev.puri.cli;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "publish",
        header = "Publish events. Each line of the input is an event as a JSON object.",
        description = {
            "",
            "  {\"type\":\"created\",\"puri\":…,\"owner\":…,\"shard\":…,\"uuid\":…,\"handle\":…,\"attributes\":{…}}",
            "  {\"type\":\"moved\",\"puri\":…,\"shard\":…,\"owner\":…}",
            "  {\"type\":\"described\",\"puri\":…,\"attributes\":{…}}",
            "  {\"type\":\"merged\",\"puri\":…,\"into\":…}",
            "  {\"type\":\"deleted\",\"puri\":…}   {\"type\":\"erased\",\"puri\":…}",
            "",
            "Each event may have eventId, occurredAt, source, expectedEpoch and, as a guard, uuid. If a creation"
                    + " has no uuid, a uuid is minted. If it has no handle, a handle is minted if the collection is"
                    + " declared with a prefix; \"handle\":null creates the identity without a handle. An invalid"
                    + " line is reported with its number and the reason, and the other lines are published.",
            ""
        })
final class PublishCommand extends Subcommand {
    @Option(
            names = {"-f", "--file"},
            required = true,
            paramLabel = "FILE|-",
            description = "File of events; - reads standard input.")
    private String file = "";

    @Option(
            names = "--wait",
            description = "Wait until the registry has decided about every event, and count the outcomes.")
    private boolean wait;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "Fail after this time without progress (default: 60).")
    private int timeoutSeconds = 60;

    @Option(
            names = "--echo",
            description = {
                "Print each event with its minted ids before it is sent. Publishing the printed lines again has no"
                        + " further effect. The summary is printed to stderr instead of stdout."
            })
    private boolean echo;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandException.requireUsage(
                timeoutSeconds >= 1, "--timeout must be at least 1 second, not " + timeoutSeconds);
        Publication.Options options = new Publication.Options(wait, echo, Duration.ofSeconds(timeoutSeconds));
        try (InputStream input = openInput(file, "a file of events")) {
            Publication.Summary summary = new Publication(console(), settings(), options).publish(input);
            print(summary);
            return summary.exitStatus();
        }
    }

    private void print(Publication.Summary summary) {
        if (asJson()) {
            String line = Json.toText(summary.toJson());
            if (echo) {
                say(line);
            } else {
                println(line);
            }
            return;
        }
        TextTable table = summary.toTable();
        table.print(echo ? console().err() : console().out());
    }
}
