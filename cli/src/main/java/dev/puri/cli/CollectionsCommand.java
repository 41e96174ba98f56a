package dev.puri.cli;

import dev.puri.cli.io.FileErrors;
import dev.puri.client.CollectionsContent;
import dev.puri.client.CollectionsContent.Repair;
import dev.puri.client.UnreadableDeclaration;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "collections",
        description = "List and declare collections and namespaces, and repair the topic of their declarations.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            CollectionsCommand.ListCommand.class,
            CollectionsCommand.ApplyCommand.class,
            CollectionsCommand.RepairCommand.class
        })
final class CollectionsCommand extends CommandGroup {
    @Command(name = "list", description = "List the declared collections and namespaces.")
    static final class ListCommand extends Subcommand {
        @Override
        public Integer call() {
            Declarations declared = brokerRequests().declarations();
            if (asJson()) {
                declared.collections().forEach(collection -> printJson(json(collection)));
                declared.namespaces().forEach(namespace -> printJson(json(namespace)));
                return ExitStatus.DONE;
            }
            TextTable table = new TextTable(
                    "COLLECTION", "PREFIX", "OWNERS", "SEARCH", "PUBLIC", "RETIRED", "MODE", "DESCRIPTION");
            for (Collection collection : declared.collections()) {
                table.row(
                        collection.qualifiedName(),
                        collection.prefix(),
                        collection.owners().isEmpty() ? "any" : String.join(",", owners(collection)),
                        yesOrNo(collection.search()),
                        yesOrNo(collection.isPublic()),
                        yesOrNo(collection.retired()),
                        collection.mode(),
                        collection.description());
            }
            table.print(console().out());
            if (!declared.namespaces().isEmpty()) {
                println("");
                TextTable namespaces = new TextTable("NAMESPACE", "EVENTS ON", "MODE");
                declared.namespaces()
                        .forEach(namespace ->
                                namespaces.row(namespace.name(), namespace.eventsTopic(), namespace.mode()));
                namespaces.print(console().out());
            }
            return ExitStatus.DONE;
        }

        private static String yesOrNo(boolean value) {
            return value ? "yes" : "no";
        }
    }

    @Command(
            name = "apply",
            description = {
                "Declare the collections and namespaces of a YAML file. If one of them conflicts, nothing is declared.",
                "Declarations that are not in the file stay unchanged."
            })
    static final class ApplyCommand extends Subcommand {
        @Option(
                names = {"-f", "--file"},
                required = true,
                paramLabel = "FILE|-",
                description = "YAML file; - reads standard input.")
        private String file = "";

        @Override
        public Integer call() {
            List<Declaration> declarations = read(this, file);
            DeclarationResult.Changes changes = declare(declarations);
            print(changes, declarations.size());
            warnAboutNamespaceTopics(changes);
            return ExitStatus.DONE;
        }

        private void warnAboutNamespaceTopics(DeclarationResult.Changes changes) {
            List<Namespace> namespaces = changes.writes().stream()
                    .filter(Namespace.class::isInstance)
                    .map(Namespace.class::cast)
                    .filter(Namespace::ownsTopic)
                    .toList();
            if (namespaces.isEmpty()) {
                return;
            }
            console().out().flush();
            Set<String> topics =
                    namespaces.stream().map(Namespace::eventsTopic).collect(Collectors.toUnmodifiableSet());
            Set<String> existingTopics;
            try (Admin admin = admin()) {
                existingTopics = TopicsCommand.describe(admin, topics).keySet();
            }
            namespaces.forEach(namespace -> say(topicWarning(namespace, existingTopics)));
        }

        /** Returns the warning for a written declaration of a namespace with its own events topic. */
        static String topicWarning(Namespace namespace, Set<String> existingTopics) {
            return "puri: events of the namespace " + namespace.name() + " are accepted on "
                    + namespace.eventsTopic() + " only; this cannot be changed"
                    + (existingTopics.contains(namespace.eventsTopic())
                            ? ""
                            : "\npuri: that topic does not exist yet; create it with: puri topics create");
        }

        private void print(DeclarationResult.Changes changes, int declarationCount) {
            if (asJson()) {
                printJson(new JsonObject()
                        .with(
                                "written",
                                changes.writes().stream().map(Declaration::key).toList())
                        .with("unchanged", declarationCount - changes.writes().size()));
                return;
            }
            changes.writes()
                    .forEach(declaration ->
                            println("declared   " + declaration.key() + modeChange(declaration, changes.before())));
            if (declarationCount > changes.writes().size()) {
                println("unchanged  " + (declarationCount - changes.writes().size()));
            }
        }
    }

    /** Returns a note on a declaration that changes its mode; empty if it does not. */
    static String modeChange(Declaration declaration, Declarations before) {
        Declaration previous = before.byKey(declaration.key());
        WriteMode from = previous == null ? WriteMode.READ_WRITE : previous.mode();
        return declaration.mode().equals(from) ? "" : "  (mode " + from + " -> " + declaration.mode() + ")";
    }

    @Command(
            name = "repair",
            description = {
                "Replace unreadable records that other programs have written to the collections topic.",
                "For each unreadable record, a record with the same key is written: the declaration of that key from"
                        + " -f, or else the last readable declaration of that key, or else a tombstone. Compaction then"
                        + " removes the unreadable record. Without --yes, the command only shows what it would write.",
                "With -o json, the field write has the new record, and the field written says whether it was written."
            })
    static final class RepairCommand extends Subcommand {
        @Option(
                names = {"-f", "--file"},
                paramLabel = "FILE|-",
                description = "Declarations, in the format of apply. Only those for unreadable records are used.")
        private @Nullable String file;

        @Option(names = "--yes", description = "Write the records.")
        private boolean yes;

        @Override
        public Integer call() {
            List<Declaration> declared = file == null ? List.of() : read(this, file);
            CollectionsContent content = brokerRequests().content();
            List<Repair> repairs = yes
                    ? brokerRequests()
                            .retry(
                                    "the cluster to store the repairs",
                                    () -> settings().collections().repair(declared))
                    : content.repairs(declared);
            repairs.forEach(this::print);
            List<UnreadableDeclaration> unrepairable = content.unreadable().stream()
                    .filter(each -> each.key() == null)
                    .toList();
            if (!unrepairable.isEmpty()) {
                say("puri: records without a key cannot be replaced. They need no repair: they reserve no prefix,"
                        + " and compaction removes them");
            }
            if (repairs.isEmpty()) {
                say("puri: there is nothing to repair");
            } else if (!yes) {
                say("puri: nothing was written; use --yes to write these records");
            }
            if (repairs.stream().anyMatch(each -> each.replacement() == null)) {
                console().out().flush();
                say("puri: a tombstone releases the prefix of its collection, so that another collection can"
                        + " get that prefix; if you know the lost declaration, pass it with -f");
            }
            return ExitStatus.DONE;
        }

        private void print(Repair repair) {
            Declaration replacement = repair.replacement();
            if (asJson()) {
                UnreadableDeclaration record = repair.record();
                printJson(new JsonObject()
                        .with("partition", record.partition())
                        .with("offset", record.offset())
                        .with("key", record.printableKey())
                        .with(
                                "write",
                                replacement == null
                                        ? null
                                        : replacement instanceof Collection collection
                                                ? json(collection)
                                                : json((Namespace) replacement))
                        .with("written", yes));
                return;
            }
            println((yes ? "replaced" : "would replace") + " the record with the key "
                    + repair.record().printableKey() + " in " + repair.record().place() + " by "
                    + (replacement == null ? "a tombstone" : "the declaration: " + replacement));
        }
    }

    private static List<Declaration> read(Subcommand command, String file) {
        String name = file.equals("-") ? "standard input" : file;
        // Unlike one that is made from a charset, this reader refuses what is not UTF-8.
        try (Reader text =
                new InputStreamReader(command.openInput(file, "a YAML file"), StandardCharsets.UTF_8.newDecoder())) {
            return CollectionsFile.read(name, text);
        } catch (CollectionsFile.InvalidFileException e) {
            throw CommandException.failed(e.getMessage(), e);
        } catch (IOException e) {
            throw CommandException.failed(name + " cannot be read: " + FileErrors.reason(e), e);
        }
    }

    private static List<String> owners(Collection collection) {
        return collection.owners().stream().map(Owner::text).sorted().toList();
    }

    private static Map<String, Object> json(Collection collection) {
        return new JsonObject()
                .with("name", collection.qualifiedName())
                .with(
                        "prefix",
                        collection.prefix() == null ? null : collection.prefix().text())
                .with("owners", owners(collection))
                .with("search", collection.search())
                .with("public", collection.isPublic())
                .with("description", collection.description())
                .with("retired", collection.retired())
                .with("mode", collection.mode().name())
                .with("importer", collection.mode().importer());
    }

    private static Map<String, Object> json(Namespace namespace) {
        return new JsonObject()
                .with("namespace", namespace.name())
                .with("ownsTopic", namespace.ownsTopic())
                .with("mode", namespace.mode().name())
                .with("importer", namespace.mode().importer());
    }
}
