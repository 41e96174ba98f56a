package com.example;

import com.example.names.Music;
import com.example.names.Revenue;
import dev.puri.client.Identifiers;

/** Uses the constants as a service would. */
public final class Songs {
    private Songs() {}

    public static String names() {
        return String.join(
                " ",
                Music.TRACKS.puri("Blue/1").toString(),
                Music.PLAY_LISTS.prefix().text(),
                Music.TRACKS.identities(Identifiers.uuid()).mint("blue").handle().prefix().text(),
                String.valueOf(Revenue.BILLS.prefix()));
    }
}
