package com.example;

import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.storage.ColumnMapping;
import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;

/** Mints, stores in a small column, opens a resolver client. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.sortable());
        NewIdentity track = tracks.mint();
        System.out.println("minted " + track.puri() + " " + track.handle());

        ColumnMapping<Puri, Long> users = PuriColumns.of("music", "users").asLong();
        System.out.println("stored " + users.store(Puri.parse("Music:Users:42")) + " for " + users.load(42L));

        try (ResolverClient resolver = ResolverClient.open(ResolverOptions.at(args[0]).build())) {
            System.out.println("asked " + resolver.requestStatistics().requests());
        }
        System.out.println("on Java " + Runtime.version().feature());
    }
}
