package dev.puri.cli;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.io.PrintWriter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "mint",
        description = {
            "Mint the ids of new identities.",
            "Without a collection or a prefix it asks nobody and mints uuids alone."
        })
final class MintCommand extends Subcommand {
    @Parameters(
            arity = "0..1",
            paramLabel = "NAMESPACE:COLLECTION",
            description = "A registered collection; its prefix begins the handles.")
    private @Nullable String collection;

    @Option(
            names = "--prefix",
            paramLabel = "PREFIX",
            description = "Three letters that begin the handles, when no registry is at hand.")
    private @Nullable String prefix;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "How many (default: 1).")
    private int count = 1;

    @Override
    public Integer call() {
        if (count < 1) {
            throw CommandException.usage("-n: at least 1, not " + count);
        }
        if (collection != null && prefix != null) {
            throw CommandException.usage("a collection has its prefix: give one or the other");
        }
        requireText(Stream.of(collection, prefix).flatMap(Stream::ofNullable).toList());
        Prefix used = prefix();
        IdentityMinter minter = new IdentityMinter();
        PrintWriter out = console().out();
        for (int i = 0; i < count; i++) {
            IdentityMinter.Minted minted = minter.mint(used);
            if (asJson()) {
                out.println(Json.print(Json.object("uuid", minted.uuid(), "handle", text(minted.handle()))));
            } else {
                out.println(minted.uuid() + (minted.handle() == null ? "" : "  " + minted.handle()));
            }
        }
        return ExitStatus.DONE;
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }

    private @Nullable Prefix prefix() {
        try {
            if (prefix != null) {
                return Prefix.parse(prefix);
            }
            return collection == null
                    ? null
                    : prefixOf(Puri.parse(collection + ":x").qualifiedCollection());
        } catch (InvalidNameException e) {
            throw CommandException.usage(e.getMessage());
        }
    }

    private Prefix prefixOf(String name) {
        Collection declared = cluster().declarations().collection(name);
        if (declared == null) {
            throw CommandException.failed(
                    "the collection " + name + " is not registered; see puri collections list", null);
        }
        if (declared.prefix() == null) {
            throw CommandException.failed("the collection " + name + " has no prefix, hence no handles", null);
        }
        return declared.prefix();
    }
}
