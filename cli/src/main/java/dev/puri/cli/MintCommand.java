package dev.puri.cli;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "mint",
        description = {
            "Mint uuids and handles for new identities.",
            "Without a collection or a prefix, the command mints only uuids and contacts no server."
        })
final class MintCommand extends Subcommand {
    /** After so many identities, the command ends if stdout is closed. */
    private static final int CHECK_INTERVAL = 10_000;

    @Parameters(
            arity = "0..1",
            paramLabel = "NAMESPACE:COLLECTION",
            description = "Declared collection. The handles begin with its prefix.")
    private @Nullable String collection;

    @Option(
            names = "--prefix",
            paramLabel = "PREFIX",
            description = "Three letters with which the handles begin. No server is contacted.")
    private @Nullable String prefix;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "Number of identities (default: 1).")
    private int count = 1;

    @Override
    public Integer call() {
        CommandException.requireUsage(count >= 1, "-n must be at least 1, not " + count);
        CommandException.requireUsage(
                collection == null || prefix == null, "specify either a collection or --prefix, not both");
        requireDecodable(
                Stream.of(collection, prefix).flatMap(Stream::ofNullable).toList());
        Prefix handlePrefix = handlePrefix();
        IdentityMinter minter = new IdentityMinter();
        PrintWriter out = console().out();
        for (int i = 0; i < count; i++) {
            if (i % CHECK_INTERVAL == 0) {
                console().requireWritten();
            }
            IdentityMinter.Minted minted = minter.mint(handlePrefix);
            if (asJson()) {
                out.println(Json.toText(new JsonObject()
                        .with("uuid", minted.uuid())
                        .with("handle", Objects.toString(minted.handle(), null))));
            } else {
                out.println(minted.uuid() + (minted.handle() == null ? "" : "  " + minted.handle()));
            }
        }
        return ExitStatus.DONE;
    }

    /** Returns the prefix of the handles, or null if no handles are minted. */
    private @Nullable Prefix handlePrefix() {
        try {
            if (prefix != null) {
                return Prefix.parse(prefix);
            }
            return collection == null
                    ? null
                    : prefixOf(Puri.parse(collection + ":x").qualifiedCollection());
        } catch (InvalidNameException e) {
            throw CommandException.usage(e.getMessage(), e);
        }
    }

    private Prefix prefixOf(String collectionName) {
        Collection declared = brokerRequests().declarations().collection(collectionName);
        if (declared == null) {
            throw CommandException.failed(
                    "the collection " + collectionName + " is not declared; see puri collections list");
        }
        if (declared.prefix() == null) {
            throw CommandException.failed(
                    "the collection " + collectionName + " has no prefix, so its identities have no handles");
        }
        return declared.prefix();
    }
}
