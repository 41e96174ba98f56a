package dev.puri.search;

import dev.puri.settings.Settings;
import dev.puri.testkit.ServerProcess;
import java.io.IOException;
import java.util.Map;

/** The main class of an indexer in a separate process. */
final class SearchChild {
    private SearchChild() {}

    public static void main(String[] args) throws IOException {
        SearchServer.start(Settings.read(SearchSettings.class, Map.of(), System.getenv(), null));
        ServerProcess.endWithParent();
    }
}
