package dev.puri.resolver;

import dev.puri.settings.Settings;
import dev.puri.testkit.ServerProcess;
import java.io.IOException;
import java.util.Map;

/** A resolver in a process of its own. */
final class ResolverChild {
    private ResolverChild() {}

    public static void main(String[] args) throws IOException {
        Resolver.start(Settings.read(ResolverSettings.class, Map.of(), System.getenv(), null));
        ServerProcess.endWithParent();
    }
}
