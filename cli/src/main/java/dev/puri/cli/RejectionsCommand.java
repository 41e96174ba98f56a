package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.schemas.avro.Rejection;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "rejections",
        description = "List, show and replay the events that were refused.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {RejectionsCommand.ListCommand.class, ShowRejectionsCommand.class, ReplayRejectionsCommand.class})
final class RejectionsCommand extends CommandGroup {
    @Command(
            name = "list",
            description = "List the latest refused events with the reasons, the oldest of these events first.")
    static final class ListCommand extends Subcommand {
        private static final int MAX_COUNT = 100_000;

        @Mixin
        private RejectionFilterOptions filterOptions = new RejectionFilterOptions();

        @Option(
                names = {"-n", "--count"},
                paramLabel = "N",
                description = "Maximum number of events (default: 20).")
        private int count = 20;

        @Override
        public Integer call() {
            CommandException.requireUsage(
                    1 <= count && count <= MAX_COUNT, "-n must be 1 to " + MAX_COUNT + ", not " + count);
            RejectionFilter filter = filterOptions.parse(Instant.now());
            CliSettings settings = settings();
            List<StoredRejection> rejections = brokerRequests().retry("the rejections", () -> {
                try (LogReader reader = settings.logReader();
                        RejectionLog log = RejectionLog.open(reader, settings, this::say)) {
                    return log.latest(filter, count).get();
                }
            });
            if (asJson()) {
                rejections.forEach(rejection -> printJson(rejection.toJson()));
                return ExitStatus.DONE;
            }
            TextTable table = new TextTable("REJECTED AT", "REASON", "PURI", "HOLDER", "EVENT", "DETAIL");
            for (StoredRejection stored : rejections) {
                Rejection rejection = stored.rejection();
                table.row(
                        rejection.getRejectedAt(),
                        rejection.getReason(),
                        rejection.getPuri(),
                        stored.holder(),
                        stored.position(),
                        rejection.getDetail());
            }
            table.print(console().out());
            return ExitStatus.DONE;
        }
    }
}
