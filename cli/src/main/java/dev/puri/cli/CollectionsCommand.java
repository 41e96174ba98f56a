package dev.puri.cli;

import dev.puri.client.CollectionsContent;
import dev.puri.client.CollectionsContent.Repair;
import dev.puri.client.UnreadableDeclaration;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Declared;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Owner;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "collections",
        description = "Collections and namespaces that are declared, with their prefixes.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            CollectionsCommand.ListCommand.class,
            CollectionsCommand.ApplyCommand.class,
            CollectionsCommand.RepairCommand.class
        })
final class CollectionsCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "say list, apply or repair");
        }
    }

    @Command(name = "list", description = "Show what is declared.")
    static final class ListCommand extends Subcommand {
        @Override
        public Integer call() {
            Declarations declared = cluster().declarations();
            if (asJson()) {
                declared.collections().forEach(each -> console().out().println(Json.print(json(each))));
                declared.namespaces().forEach(each -> console().out().println(Json.print(json(each))));
                return ExitStatus.DONE;
            }
            Table table = new Table("COLLECTION", "PREFIX", "OWNERS", "SEARCH", "PUBLIC", "RETIRED", "DESCRIPTION");
            for (Collection each : declared.collections()) {
                table.row(
                        each.qualifiedName(),
                        each.prefix(),
                        each.owners().isEmpty() ? "any" : String.join(",", owners(each)),
                        yes(each.search()),
                        yes(each.isPublic()),
                        yes(each.retired()),
                        each.description());
            }
            table.print(console().out());
            if (!declared.namespaces().isEmpty()) {
                console().out().println();
                Table namespaces = new Table("NAMESPACE", "EVENTS ON");
                declared.namespaces().forEach(each -> namespaces.row(each.name(), each.eventsTopic()));
                namespaces.print(console().out());
            }
            return ExitStatus.DONE;
        }

        private static String yes(boolean value) {
            return value ? "yes" : "no";
        }
    }

    @Command(
            name = "apply",
            description = {
                "Declare what a YAML file says: all of it or, if anything conflicts, nothing.",
                "What the file does not name stays as it is."
            })
    static final class ApplyCommand extends Subcommand {
        @Option(
                names = {"-f", "--file"},
                required = true,
                paramLabel = "FILE|-",
                description = "The file; - reads standard input.")
        private String file = "";

        @Override
        public Integer call() throws IOException {
            List<Declaration> declarations = read(console(), file);
            return switch (cluster()
                    .retry(
                            "the cluster to take the declarations",
                            () -> settings().collections().apply(declarations))) {
                case Declared.Conflicts conflicts ->
                    throw CommandException.failed("nothing was written:\n" + conflicts, null);
                case Declared.Changes changes -> {
                    print(changes, declarations.size());
                    warn(changes);
                    yield ExitStatus.DONE;
                }
            };
        }

        private void warn(Declared.Changes changes) {
            List<Namespace> owners = changes.writes().stream()
                    .filter(Namespace.class::isInstance)
                    .map(Namespace.class::cast)
                    .filter(Namespace::ownsTopic)
                    .toList();
            if (owners.isEmpty()) {
                return;
            }
            console().out().flush();
            Set<String> topics = owners.stream().map(Namespace::eventsTopic).collect(Collectors.toUnmodifiableSet());
            Set<String> existingTopics;
            try (Admin admin = Admin.create(settings().interactiveProperties())) {
                existingTopics = TopicsCommand.describe(admin, topics).keySet();
            }
            owners.forEach(owner -> console().say(consequence(owner, existingTopics)));
        }

        /** Returns the warning for a namespace that now owns a topic. */
        static String consequence(Namespace owner, Set<String> existingTopics) {
            return "puri: events of " + owner.name() + " now belong on " + owner.eventsTopic()
                    + " alone, permanently; anywhere else they are refused"
                    + (existingTopics.contains(owner.eventsTopic())
                            ? ""
                            : "\npuri: that topic does not exist yet; make it with: puri topics create");
        }

        private void print(Declared.Changes changes, int total) {
            if (asJson()) {
                console()
                        .out()
                        .println(Json.print(Json.object(
                                "written",
                                changes.writes().stream().map(Declaration::key).toList(),
                                "unchanged",
                                total - changes.writes().size())));
                return;
            }
            changes.writes().forEach(each -> console().out().println("declared   " + each.key()));
            if (total > changes.writes().size()) {
                console()
                        .out()
                        .println("unchanged  " + (total - changes.writes().size()));
            }
        }
    }

    @Command(
            name = "repair",
            description = {
                "Replace records of the topic that cannot be read, which somebody wrote there by another way.",
                "Under the key of each is written what -f declares for it, or else the last declaration of that key"
                        + " that can be read, or else a tombstone; compaction then removes the old record. Shows what"
                        + " it would write; --yes writes it."
            })
    static final class RepairCommand extends Subcommand {
        @Option(
                names = {"-f", "--file"},
                paramLabel = "FILE|-",
                description = "What was declared, as for apply; only what is needed of it is used.")
        private @Nullable String file;

        @Option(names = "--yes", description = "Write it.")
        private boolean yes;

        @Override
        public Integer call() throws IOException {
            List<Declaration> declared = file == null ? List.of() : read(console(), file);
            CollectionsContent content = cluster().content();
            List<Repair> repairs = yes
                    ? cluster()
                            .retry(
                                    "the cluster to take the repairs",
                                    () -> settings().collections().repair(declared))
                    : content.repairs(declared);
            repairs.forEach(this::print);
            List<UnreadableDeclaration> unrepairable = content.unreadable().stream()
                    .filter(each -> each.key() == null)
                    .toList();
            if (!unrepairable.isEmpty()) {
                console().say("puri: records without a key stay until compaction removes them; no prefix is in them");
            }
            if (repairs.isEmpty()) {
                console().say("puri: there is nothing to repair");
            } else if (!yes) {
                console().say("puri: nothing was written; --yes writes it");
            }
            if (repairs.stream().anyMatch(each -> each.replacement() == null)) {
                console().out().flush();
                console()
                        .say("puri: a tombstone forgets the prefix that its record may have held, which can then be"
                                + " given to another collection: if you know what was declared, give it with -f");
            }
            return ExitStatus.DONE;
        }

        private void print(Repair repair) {
            Declaration replacement = repair.replacement();
            String what = replacement == null ? "tombstone" : "declaration";
            if (asJson()) {
                UnreadableDeclaration record = repair.record();
                console()
                        .out()
                        .println(Json.print(Json.object(
                                "partition",
                                record.partition(),
                                "offset",
                                record.offset(),
                                "key",
                                record.printableKey(),
                                "write",
                                replacement == null
                                        ? null
                                        : replacement instanceof Collection collection
                                                ? json(collection)
                                                : json((Namespace) replacement),
                                "written",
                                yes)));
                return;
            }
            console()
                    .out()
                    .println((yes ? "wrote a " : "would write a ") + what + " under the key of "
                            + repair.record().place() + ", " + repair.record().printableKey()
                            + (replacement == null ? "" : ": " + replacement));
        }
    }

    private static List<Declaration> read(Console console, String file) throws IOException {
        if (file.equals("-")) {
            return parse("standard input", new InputStreamReader(console.in(), StandardCharsets.UTF_8));
        }
        if (Files.isDirectory(Path.of(file))) {
            throw CommandException.failed(file + " is a directory; name a YAML file, or - for stdin", null);
        }
        try (Reader reader = Files.newBufferedReader(Path.of(file))) {
            return parse(file, reader);
        } catch (IOException e) {
            throw CommandException.unreadable(file, e);
        }
    }

    private static List<Declaration> parse(String name, Reader text) throws IOException {
        try {
            return CollectionsFile.read(name, text);
        } catch (CollectionsFile.InvalidFileException e) {
            throw CommandException.failed(e.getMessage(), e);
        }
    }

    private static List<String> owners(Collection collection) {
        return collection.owners().stream().map(Owner::text).sorted().toList();
    }

    private static Map<String, Object> json(Collection collection) {
        return Json.object(
                "name",
                collection.qualifiedName(),
                "prefix",
                collection.prefix() == null ? null : collection.prefix().text(),
                "owners",
                owners(collection),
                "search",
                collection.search(),
                "public",
                collection.isPublic(),
                "description",
                collection.description(),
                "retired",
                collection.retired());
    }

    private static Map<String, Object> json(Namespace namespace) {
        return Json.object("namespace", namespace.name(), "ownsTopic", namespace.ownsTopic());
    }
}
