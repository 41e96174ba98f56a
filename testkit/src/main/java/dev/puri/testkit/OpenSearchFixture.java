package dev.puri.testkit;

import java.nio.file.Path;

/** A real OpenSearch node for tests, without security, in a process of its own. */
public interface OpenSearchFixture {
    /** Where it answers, e.g. {@code http://127.0.0.1:9200}; the same for its life. */
    String url();

    /** The folder of all that it writes to disk: indices, their transaction logs, the cluster's state. */
    Path data();

    /** The node that all tests of this JVM share; started at first use, gone with the JVM. */
    static OpenSearchFixture shared() {
        return SharedFixtures.openSearch();
    }

    /** A node of the caller's own, for tests that stop it; the caller closes it. */
    static RestartableOpenSearch start() {
        return new RestartableOpenSearch();
    }
}
