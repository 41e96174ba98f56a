package com.example;

import com.example.names.Soundcloud;
import dev.puri.client.*;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.client.storage.ColumnMapping;
import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.*;
import dev.puri.schemas.log.*;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mints and publishes as README does, resolves, and stores in a small column. */
public final class Main {
    private static final Logger log = LoggerFactory.getLogger(Main.class);

    private Main() {}

    /** The arguments are the addresses of the broker, the schema registry and the resolver. */
    public static void main(String[] args) throws Exception {
        Map<String, String> properties =
                Map.of("bootstrap.servers", args[0], "schema.registry.url", args[1], "puri.resolver.url", args[2]);

        // example of README

        try (ResolverClient resolver =
                ResolverClient.open(ResolverOptions.at(args[2]).build())) {
            Verdict verdict = resolver.resolve(track.handle().text());
            System.out.println("resolved " + verdict);
        }

        ColumnMapping<Puri, Long> users = PuriColumns.of(Soundcloud.USERS).asLong();
        System.out.println("stored " + users.store(Puri.parse("SoundCloud:Users:42")) + " for " + users.load(42L));
    }
}
