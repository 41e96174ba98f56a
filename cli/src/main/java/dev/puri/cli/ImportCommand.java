package dev.puri.cli;

import dev.puri.cli.imports.Import;
import dev.puri.cli.imports.ImportException;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverException;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "import",
        header = "Register the identities of existing databases and files.",
        description = {
            "",
            "Four stages, each of which can be repeated: plan reads the inputs and reports conflicts, load publishes the"
                    + " planned rows, verify compares the registry with them, open lets services write.",
            ""
        },
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ImportCommand.PlanCommand.class,
            ImportCommand.LoadCommand.class,
            ImportCommand.VerifyCommand.class,
            ImportCommand.OpenCommand.class
        })
final class ImportCommand extends CommandGroup {
    /** A stage of an import. */
    abstract static class Stage extends Subcommand {
        @Option(
                names = {"-d", "--dir"},
                required = true,
                paramLabel = "DIR",
                description = "Folder of the import, with the plan, the reports and the progress.")
        private Path folder = Path.of("");

        /** Runs the stage and returns the exit status. */
        abstract int run(Import imports) throws IOException, InterruptedException;

        @Override
        public final Integer call() throws IOException, InterruptedException {
            try {
                return run(new Import(folder));
            } catch (ImportException e) {
                throw CommandException.failed(e.getMessage(), e);
            } catch (ResolverException e) {
                throw CommandException.failed("the resolver at " + settings().resolver() + ": " + e.getMessage(), e);
            }
        }

        final Path folder() {
            return folder;
        }

        final ProgressLine progress(String unit) {
            return new ProgressLine(console(), unit);
        }

        final void print(Object json, TextTable table) {
            if (asJson()) {
                printJson(json);
            } else {
                table.print(console().out());
            }
        }
    }

    /** The option of the stages whose speed can be limited. */
    static final class RateOption {
        @Option(
                names = "--rate",
                paramLabel = "N",
                description = "Maximum number of rows per second (default: no limit).")
        private @Nullable Integer rate;

        /** Returns the maximum number per second; null for no limit. */
        @Nullable
        Integer maxPerSecond() {
            CommandException.requireUsage(rate == null || rate >= 1, "--rate must be at least 1, not " + rate);
            return rate;
        }
    }

    @Command(
            name = "plan",
            description = {
                "Read the inputs of a mapping file and write the plan: the rows to publish, and each conflict. Nothing is"
                        + " published. Exit status 3 if there are conflicts."
            })
    static final class PlanCommand extends Stage {
        @Option(
                names = {"-f", "--file"},
                required = true,
                paramLabel = "FILE",
                description = "Mapping file, YAML.")
        private Path file = Path.of("");

        @Option(
                names = "--wait",
                paramLabel = "SECONDS",
                description = "How long the resolver may take to read the latest changes (default: 60).")
        private int waitSeconds = 60;

        @Mixin
        private RateOption rate = new RateOption();

        @Override
        int run(Import imports) throws IOException, InterruptedException {
            Integer maxPerSecond = rate.maxPerSecond();
            Import.PlanResult result;
            TableLag.awaitFresh(
                    console(), settings(), Duration.ofSeconds(waitSeconds), "the plan would lack conflicts with them");
            try (IdentityResolver resolver = openResolver()) {
                ProgressLine progress = progress("rows read");
                result = imports.plan(
                        file,
                        new Import.RegistryView(brokerRequests().declarations(), resolver, collectionsWithRows()),
                        console().environment(),
                        maxPerSecond,
                        Instant.now(),
                        progress);
                progress.end();
            }
            TextTable table = new TextTable("ROWS", "");
            result.inputs().forEach((input, rows) -> table.row(rows, "read from " + input));
            table.row(result.rows(), "planned: " + imports.rowsFile());
            table.row(result.existing(), "of these already registered");
            if (result.superseded() > 0) {
                table.row(result.superseded(), "left out, because the same export has a later state of them");
            }
            result.conflicts().forEach((kind, count) -> table.row(count, kind + ": " + imports.conflictsFile()));
            print(result, table);
            for (String advice : result.advice()) {
                say("puri: " + advice);
            }
            return result.conflicts().isEmpty() ? ExitStatus.DONE : ExitStatus.PARTLY;
        }

        /** Returns the collections of which the registry has identities; null if the resolver does not list them. */
        private @Nullable Set<String> collectionsWithRows() throws InterruptedException {
            try {
                return Import.collectionsWithRows(ApiClient.ofResolver(console(), settings())
                        .get("/v1/stats")
                        .json());
            } catch (CommandException e) {
                // The token may have the scope of look-ups only.
                return null;
            }
        }
    }

    @Command(
            name = "load",
            description = {
                "Publish the planned rows. A load that was interrupted continues where it was, with --present if it had"
                        + " that. A second load publishes nothing, except that one with --present begins again after one"
                        + " without."
            })
    static final class LoadCommand extends Stage {
        @Mixin
        private RateOption rate = new RateOption();

        @Option(
                names = "--while-open",
                description =
                        "Load into collections that are not in mode IMPORT. Services may then claim the same names.")
        private boolean whileOpen;

        @Option(
                names = "--present",
                description = "Also publish the rows that resolvers had when the plan was made. For a topology that has"
                        + " lost its state; otherwise these events change nothing. Verify only when the topology is"
                        + " idle.")
        private boolean publishExisting;

        @Override
        int run(Import imports) throws IOException, InterruptedException {
            Integer maxPerSecond = rate.maxPerSecond();
            Declarations declarations = brokerRequests().declarations();
            ProgressLine progress = progress("rows loaded");
            Import.LoadResult result;
            try (IdentityPublisher publisher = settings().publisher(declarations)) {
                result = imports.load(publisher, declarations, whileOpen, maxPerSecond, publishExisting, progress);
            }
            progress.end();
            TextTable table = new TextTable("ROWS", "");
            table.row(result.rows(), "loaded, of which");
            table.row(result.published(), "were published");
            print(result, table);
            if (result.publishesExisting()) {
                say(
                        "puri: wait until the topology has no lag and no parked events, and the resolver is not"
                                + " behind: until then it may have the rows of before the load, and verify would compare those");
            }
            say("puri: next: puri import verify -d " + folder());
            return ExitStatus.DONE;
        }
    }

    @Command(name = "verify", description = "Compare the registry with the planned rows. Exit status 1 if one differs.")
    static final class VerifyCommand extends Stage {
        @Option(
                names = "--wait",
                paramLabel = "SECONDS",
                description = "How long the resolver may take to read the last events, and then their outcomes"
                        + " (default: 30).")
        private int waitSeconds = 30;

        @Mixin
        private RateOption rate = new RateOption();

        @Override
        int run(Import imports) throws IOException, InterruptedException {
            Integer maxPerSecond = rate.maxPerSecond();
            ProgressLine progress = progress("rows compared");
            Import.VerifyResult result;
            try (IdentityResolver resolver = openResolver()) {
                result = imports.verify(
                        resolver, Duration.ofSeconds(waitSeconds), maxPerSecond, Instant.now(), progress);
            }
            progress.end();
            TextTable table = new TextTable("ROWS", "");
            table.row(result.rows(), "compared, of which");
            table.row(
                    result.differences(),
                    result.differences() == 0 ? "differ" : "differ: " + imports.differencesFile());
            print(result, table);
            return result.differences() == 0 ? ExitStatus.DONE : ExitStatus.FAILED;
        }
    }

    @Command(
            name = "open",
            description = {
                "Set the mode of the imported collections to READ_WRITE, after a verification without differences. Exit"
                        + " status 3 if a collection of the mapping stays in mode IMPORT, because each of its rows has a"
                        + " conflict."
            })
    static final class OpenCommand extends Stage {
        @Option(
                names = "--namespace",
                description = "Also open the namespaces of the collections. Without this option a namespace in mode"
                        + " IMPORT is an error, because other imports may need it closed.")
        private boolean opensNamespaces;

        @Override
        int run(Import imports) throws IOException {
            Import.Opening opening = imports.opening(brokerRequests().declarations(), opensNamespaces);
            List<Declaration> opened = opening.declarations().isEmpty()
                    ? List.of()
                    : declare(opening.declarations()).writes();
            print(opened.stream().map(Declaration::key).toList(), opening.stillImporting());
            for (String collection : opening.stillImporting()) {
                say("puri: " + collection + " stays in mode IMPORT, because each of its rows has a conflict: "
                        + imports.conflictsFile() + "; open it with puri collections apply");
            }
            return opening.stillImporting().isEmpty() ? ExitStatus.DONE : ExitStatus.PARTLY;
        }

        /**
         * @param opened the keys of the changed declarations
         */
        void print(List<String> opened, List<String> stillImporting) {
            if (asJson()) {
                printJson(new JsonObject().with("opened", opened).with("stillImporting", stillImporting));
            } else if (opened.isEmpty() && stillImporting.isEmpty()) {
                println("nothing to open: no collection of the import is in mode IMPORT");
            } else {
                opened.forEach(key -> println("opened   " + key));
            }
        }
    }
}
