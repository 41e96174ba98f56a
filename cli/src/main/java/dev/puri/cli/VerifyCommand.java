package dev.puri.cli;

import dev.puri.cli.io.FolderLock;
import dev.puri.cli.io.RateLimiter;
import dev.puri.cli.verify.Check;
import dev.puri.cli.verify.CheckRunner;
import dev.puri.cli.verify.CheckRunner.CopyResult;
import dev.puri.cli.verify.Difference;
import dev.puri.cli.verify.RegistryReader;
import dev.puri.cli.verify.Repairs;
import dev.puri.cli.verify.ResolverExport;
import dev.puri.cli.verify.SnapshotFile;
import dev.puri.cli.verify.VerifyException;
import dev.puri.cli.verify.VerifyFolder;
import dev.puri.settings.Secret;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.GroupState;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "verify",
        header = "Compare every copy of the identities with the registrar, and print each difference.",
        description = {
            "",
            "Compares the registrar's state with the events in the log that made it, the rows and documents in their"
                    + " topics with that state, and resolvers, snapshots and the search index with the rows. Exit status 0"
                    + " if no row differs and every part was compared to its end, else 1. Parts that are left out are"
                    + " named.",
            ""
        })
final class VerifyCommand extends Subcommand {
    private static final long MIN_RATE = 1000;

    /** The maximum time without progress of a read, and of a transaction. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

    /** A repair relies on differences that are not older. */
    private static final Duration MAX_AGE_OF_REPAIRED = Duration.ofHours(1);

    enum Part {
        REGISTRAR,
        RESOLVER,
        SNAPSHOT,
        INDEX
    }

    @Option(
            names = "--part",
            split = ",",
            paramLabel = "PART",
            description = "Parts to compare: registrar, resolver, snapshot, index. Default: all for which there is a"
                    + " server or a folder.")
    private List<Part> parts = List.of();

    @Option(
            names = "--also-resolver",
            paramLabel = "URL",
            description = "Compare this resolver too, besides that of --resolver. May be repeated.")
    private List<URI> otherResolvers = List.of();

    @Option(
            names = "--snapshot",
            paramLabel = "FOLDER",
            description = "Compare the snapshot in this state folder of a resolver. May be repeated.")
    private List<Path> snapshots = List.of();

    @Option(
            names = {"-d", "--dir"},
            paramLabel = "DIR",
            description = "Keep the progress and the differences in this folder. A verification that was interrupted"
                    + " continues within a day; after one that has ended, a new one starts.")
    private @Nullable Path folder;

    @Option(names = "--restart", description = "Do not continue an interrupted verification.")
    private boolean restart;

    @Option(names = "--rate", paramLabel = "N", description = "Maximum number of rows per second (default: 100000).")
    private long rate = 100_000;

    @Option(
            names = "--repair",
            description =
                    "Print which rows of puri.identities.v1 the registrar would write again or delete; with --yes,"
                            + " make it do so.")
    private boolean repair;

    @Option(names = "--yes", description = "Repair.")
    private boolean confirmed;

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        CommandException.requireUsage(rate >= MIN_RATE, "--rate must be at least " + MIN_RATE + ", not " + rate);
        CommandException.requireUsage(!confirmed || repair, "--yes is an option of --repair");
        CommandException.requireUsage(!repair || isSelected(Part.REGISTRAR), "--repair needs the part registrar");
        CommandException.requireUsage(
                !parts.contains(Part.SNAPSHOT) || !snapshots.isEmpty(), "--part snapshot needs --snapshot FOLDER");
        CommandException.requireUsage(
                isSelected(Part.SNAPSHOT) || snapshots.isEmpty(), "--snapshot needs the part snapshot");
        CommandException.requireUsage(
                isSelected(Part.RESOLVER) || otherResolvers.isEmpty(), "--also-resolver needs the part resolver");
        try {
            return run();
        } catch (VerifyException e) {
            throw CommandException.failed(e.getMessage(), e);
        }
    }

    private int run() throws IOException, InterruptedException, ExecutionException {
        VerifyFolder verifyFolder =
                new VerifyFolder(folder == null ? Files.createTempDirectory("puri-verify") : folder);
        // Also at Ctrl-C.
        try (Lifetime.Closing deletion = folder == null ? Lifetime.closeAtExit(() -> delete(verifyFolder)) : null;
                FolderLock unused = verifyFolder.lock()) {
            if (restart) {
                verifyFolder.clear();
            }
            List<CopyResult> results = verify(verifyFolder);
            boolean isEqual = !results.isEmpty() && results.stream().allMatch(CopyResult::isEqual);
            print(results, isEqual);
            if (repair) {
                return repair(verifyFolder, results);
            }
            return isEqual ? ExitStatus.DONE : ExitStatus.FAILED;
        }
    }

    private static void delete(VerifyFolder verifyFolder) {
        try {
            verifyFolder.delete();
        } catch (IOException e) {
            // At Ctrl-C a check may still write to the folder.
        }
    }

    private List<CopyResult> verify(VerifyFolder verifyFolder) throws IOException {
        ProgressLine progress = new ProgressLine(console(), "records read");
        // 0 until it is known.
        long[] total = {0};
        RateLimiter limiter = new RateLimiter(maxPerSecond(), count -> {
            if (total[0] > 0) {
                // Keys that differ are read more than once.
                progress.show(Math.min(count, total[0]), total[0]);
            }
        });
        try (RegistryReader registry = registry(limiter)) {
            List<Check> checks = checks(settings(), registry, limiter, verifyFolder);
            if (checks.isEmpty()) {
                throw CommandException.failed("there is nothing to compare");
            }
            CheckRunner verification =
                    new CheckRunner(verifyFolder, checks, registry.clusterId(), registry.hasEvents(), this::print);
            Instant now = Instant.now();
            if (verification.discardsOtherCluster()) {
                say("puri: starts from the beginning, because the interrupted verification in " + verifyFolder.path()
                        + " is of another cluster");
            }
            sayContinuedSince(verification.continuedSince(now), now);
            total[0] = verification.recordsToRead(now);
            return verification.run(now);
        } finally {
            progress.end();
        }
    }

    private int maxPerSecond() {
        return (int) Math.min(rate, Integer.MAX_VALUE);
    }

    private RegistryReader registry(RateLimiter limiter) {
        return new RegistryReader(settings().interactiveProperties(), applicationId(), READ_TIMEOUT, limiter);
    }

    /**
     * Prints since when a continued verification has been running.
     *
     * @throws CommandException if a repair would rely on differences that are too old
     */
    private void sayContinuedSince(@Nullable Instant startedAt, Instant now) {
        if (startedAt == null) {
            return;
        }
        say("puri: continues the verification that started at " + startedAt);
        if (repair && startedAt.isBefore(now.minus(MAX_AGE_OF_REPAIRED))) {
            throw CommandException.failed(
                    "nothing was repaired: its differences may be more than an hour old; use --restart");
        }
    }

    private List<Check> checks(
            CliSettings settings, RegistryReader registry, RateLimiter limiter, VerifyFolder verifyFolder) {
        List<Check> checks = new ArrayList<>();
        if (isSelected(Part.REGISTRAR)) {
            checks.addAll(registry.registrarChecks());
        }
        if (isSelected(Part.RESOLVER)) {
            List<URI> resolvers = new ArrayList<>();
            if (isNamed(Part.RESOLVER, "resolver", "PURI_RESOLVER") || listens(Part.RESOLVER, settings.resolver())) {
                resolvers.add(settings.resolver());
            }
            resolvers.addAll(otherResolvers);
            String token = settings.token().map(Secret::value).orElse(null);
            resolvers.forEach(url -> checks.add(registry.copyCheck(new ResolverExport(url, token, limiter))));
        }
        if (isSelected(Part.SNAPSHOT)) {
            snapshots.forEach(
                    path -> checks.add(registry.copyCheck(new SnapshotFile(path, settings.interactiveProperties()))));
            if (snapshots.isEmpty()) {
                sayNotCompared(Part.SNAPSHOT, "there is no --snapshot FOLDER");
            }
        }
        if (isSelected(Part.INDEX)
                && (isNamed(Part.INDEX, "search", "PURI_SEARCH") || listens(Part.INDEX, settings.search()))) {
            checks.add(new IndexCheck(ApiClient.ofIndexer(console(), settings), registry, verifyFolder.indexLines()));
        }
        return checks;
    }

    private boolean isSelected(Part part) {
        return parts.isEmpty() || parts.contains(part);
    }

    /** Whether the user wants to compare a server, so that the comparison fails if it does not answer. */
    boolean isNamed(Part part, String flag, String variable) {
        return parts.contains(part)
                || rootCommand().flags().containsKey(flag)
                || PuriCommand.isSet(console().environment(), variable);
    }

    /** Whether a server listens at the default address, so that its part is compared by default. */
    private boolean listens(Part part, URI address) {
        boolean listens = BrokerRequests.acceptsConnections(address.getHost() + ":" + address.getPort());
        if (!listens) {
            sayNotCompared(part, "nothing listens at " + address);
        }
        return listens;
    }

    private void sayNotCompared(Part part, String reason) {
        say("puri: not compared: " + part.name().toLowerCase(Locale.ROOT) + ", because " + reason);
    }

    private void print(Difference difference) {
        println(asJson() ? Json.toText(difference) : difference.toString());
        console().out().flush();
    }

    private void print(List<CopyResult> results, boolean isEqual) {
        if (asJson()) {
            printJson(new JsonObject().with("equal", isEqual).with("copies", results));
            console().out().flush();
            return;
        }
        TextTable table = new TextTable("PART", "COPY", "ROWS", "DIFFERENCES", "NOT COMPARED", "RESULT");
        for (CopyResult result : results) {
            String text = result.failure() != null
                    ? "FAILED: " + result.failure()
                    : (result.differences() > 0 ? "differs" : result.isComplete() ? "equal" : "incomplete")
                            + (result.note() == null ? "" : "; " + result.note());
            table.row(result.part(), result.copy(), result.rows(), result.differences(), result.notCompared(), text);
        }
        table.print(console().out());
    }

    private int repair(VerifyFolder verifyFolder, List<CopyResult> results)
            throws IOException, InterruptedException, ExecutionException {
        requireRepairable(results);
        boolean isComplete = results.stream().allMatch(CopyResult::isComplete);
        try (RegistryReader registry = registry(new RateLimiter(maxPerSecond()))) {
            String objection = Repairs.objection(verifyFolder, registry);
            if (objection != null) {
                throw CommandException.failed("nothing was repaired: " + Difference.escaped(objection));
            }
            RowRepair rowRepair = new RowRepair(console(), verifyFolder, registry.partitions());
            RowRepair.Plan plan = rowRepair.plan(!confirmed);
            if (!isComplete) {
                say("puri: not all rows were compared, so there may be more differences; the table says why");
            }
            if (!confirmed) {
                say("puri: " + plan.writes() + " rows would be written again, " + plan.deletions()
                        + " rows would be deleted; nothing was published. Add --yes to publish");
                return isComplete && plan.isEmpty() ? ExitStatus.DONE : ExitStatus.FAILED;
            }
            boolean isDone = plan.repairs() == 0 || rowRepair.run(plan, settings(), brokerRequests());
            // The differences are those of before the repair.
            verifyFolder.clear();
            return isComplete && isDone && plan.others() == 0 ? ExitStatus.DONE : ExitStatus.FAILED;
        }
    }

    /**
     * Requires that the registrar's state was read completely, and that the topology runs.
     *
     * @throws CommandException if a repair could write what is wrong
     */
    private void requireRepairable(List<CopyResult> results) throws InterruptedException, ExecutionException {
        List<CopyResult> ofRegistrar = results.stream()
                .filter(result -> result.part().equals(RegistryReader.REGISTRAR))
                .toList();
        for (CopyResult result : ofRegistrar) {
            if (result.failure() != null) {
                throw CommandException.failed(
                        "nothing was repaired, because the registrar's state could not be read completely: "
                                + result.failure());
            }
        }
        String group = applicationId();
        try (Admin admin = admin()) {
            GroupState state = Objects.requireNonNull(admin.describeConsumerGroups(List.of(group))
                            .all()
                            .get()
                            .get(group))
                    .groupState();
            if (state != GroupState.STABLE) {
                throw CommandException.failed(
                        "nothing was repaired, because the topology " + group + " does not run: its group is " + state);
            }
        }
    }
}
