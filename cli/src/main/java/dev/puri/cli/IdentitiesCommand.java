package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.cli.recovery.ExportFile;
import dev.puri.cli.recovery.Republication;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverException;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "identities",
        description = "Restore identities and their searchable attributes.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {IdentitiesCommand.RepublishCommand.class, PrintAttributesCommand.class})
final class IdentitiesCommand extends CommandGroup {
    /** The option of the commands that read or write a backup. An empty one is hardly ever right. */
    static final class EmptyOption {
        @Option(
                names = "--allow-empty",
                description = "Succeed although there is nothing to do (default: exit status 1).")
        private boolean isAllowed;

        /** Ends the command, unless the option is set. */
        void requireAllowed(String objection) {
            if (!isAllowed) {
                throw CommandException.failed(objection + "; if this is right, add --allow-empty");
            }
        }
    }

    @Command(
            name = "republish",
            header = "Make the topology write the rows of an identities topic that was lost.",
            description = {
                "",
                "Publishes for each pURI an event that is always refused; the topology answers each with the row in its"
                        + " state. The pURIs are those of an export, of the events topics, or of both. Each event leaves"
                        + " a refusal of the source puri-republish.",
                ""
            })
    static final class RepublishCommand extends Subcommand {
        /** The maximum number of pURIs in memory; they take about 200 MB. */
        private static final int MAX_NAMES = 1_000_000;

        @Option(
                names = {"-f", "--file"},
                paramLabel = "FILE",
                description = "An export, lines of JSON.")
        private @Nullable Path file;

        @Option(
                names = "--events-since",
                paramLabel = "TIME",
                description = "Republish the pURIs of events since this time too: an instant such as"
                        + " 2026-03-01T10:00:00Z, or a duration before now such as 90m, 2h or 7d.")
        private @Nullable String eventsSince;

        @Option(
                names = "--wait",
                paramLabel = "SECONDS",
                description = "How long the resolver may take to read the last rows (default: 60).")
        private int waitSeconds = 60;

        @Mixin
        private EmptyOption empty = new EmptyOption();

        @Override
        public Integer call() throws IOException {
            CommandException.requireUsage(
                    file != null || eventsSince != null, "name an export with -f, or a time with --events-since");
            Instant since = eventsSince == null ? null : since(eventsSince);
            try (ExportFile export = file == null ? null : ExportFile.open(file);
                    IdentityResolver resolver = openResolver()) {
                if (export != null && export.rows() == 0) {
                    empty.requireAllowed("the export " + file + " has no rows, so it restores nothing");
                }
                return republish(export, since, resolver);
            }
        }

        private int republish(@Nullable ExportFile export, @Nullable Instant since, IdentityResolver resolver)
                throws IOException {
            Declarations declarations = brokerRequests().declarations();
            ProgressLine progress = new ProgressLine(console(), "events published");
            long ofExport;
            Republication republication;
            try (IdentityPublisher publisher = settings().publisher(declarations)) {
                republication = new Republication(publisher, Instant.now(), count -> progress.show(count, null));
                Set<Puri> names = since == null ? new HashSet<>() : republishNamesOfEvents(since, republication);
                long publishedWhileReading = republication.published();
                if (export == null && names.isEmpty() && publishedWhileReading == 0) {
                    empty.requireAllowed(
                            "the events topics have no events since " + since + ", so nothing is restored");
                }
                if (export != null) {
                    republication.republish(export, names);
                }
                ofExport = republication.published() - publishedWhileReading;
                republication.republish(names);
            } catch (PublishException e) {
                throw CommandException.failed(e.getMessage() + "; run the command again", e);
            }
            long ofEvents = republication.published() - ofExport;
            progress.end();
            awaitRead(republication, resolver);
            if (asJson()) {
                printJson(new JsonObject().with("export", ofExport).with("events", ofEvents));
            } else {
                println("republished " + ofExport + " of the export, " + ofEvents + " of events");
            }
            return ExitStatus.DONE;
        }

        private static Instant since(String text) {
            try {
                return RejectionFilterOptions.parseTime(text, Instant.now());
            } catch (IllegalArgumentException e) {
                throw CommandException.usage("--events-since: " + e.getMessage(), e);
            }
        }

        /**
         * Reads the pURIs of the events since a time. Publishes events for all except the last million, and returns
         * these: they may be in the export too.
         */
        private Set<Puri> republishNamesOfEvents(Instant since, Republication republication) {
            Set<Puri> names = new HashSet<>();
            try (Admin admin = admin();
                    LogReader reader = settings().logReader()) {
                Map<TopicPartition, Long> times = new HashMap<>();
                for (String topic : new TreeSet<>(TopicsCommand.registryTopics(admin))) {
                    if (Topics.isEvents(topic)) {
                        reader.partitions(topic).forEach(partition -> times.put(partition, since.toEpochMilli()));
                    }
                }
                reader.read(reader.offsetsAt(times), record -> {
                    try {
                        names.add(Puri.parse(
                                record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8)));
                    } catch (InvalidNameException e) {
                        // The topology refuses such an event without a row.
                    }
                    if (names.size() == MAX_NAMES) {
                        republication.republish(names);
                        names.clear();
                    }
                });
            }
            return names;
        }

        private void awaitRead(Republication republication, IdentityResolver resolver) {
            try {
                Position unread = republication.awaitRead(resolver, Duration.ofSeconds(waitSeconds));
                if (unread != null) {
                    throw CommandException.failed("the resolver has not read the row of the event " + unread
                            + " within " + waitSeconds + " s; is puri streams running? All events are published");
                }
            } catch (ResolverException e) {
                throw CommandException.failed("the resolver at " + settings().resolver() + ": " + e.getMessage(), e);
            }
        }
    }
}
