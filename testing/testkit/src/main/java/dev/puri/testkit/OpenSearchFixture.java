package dev.puri.testkit;

import java.nio.file.Path;

/** A real OpenSearch node for tests. It runs in a child process, without OpenSearch's security. */
public interface OpenSearchFixture {
    /** Returns the base URL of the node, e.g. {@code http://127.0.0.1:9200}. A restart does not change it. */
    String url();

    /** Returns the data folder of the node, with the indices, their transaction logs and the cluster's state. */
    Path data();

    /** Returns the node that all tests of this JVM share. It starts at its first use and ends with the JVM. */
    static OpenSearchFixture shared() {
        return SharedFixtures.openSearch();
    }

    /** Starts a node for tests that stop it. The caller must close it. */
    static RestartableOpenSearch start() {
        return new RestartableOpenSearch();
    }
}
