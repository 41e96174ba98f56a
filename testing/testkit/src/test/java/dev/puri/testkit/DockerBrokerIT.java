package dev.puri.testkit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeAll;

class DockerBrokerIT extends BrokerContract {
    @BeforeAll
    static void dockerAnswers() {
        boolean answers = DockerBroker.isAvailable();
        if (!answers) {
            System.err.println("DockerBrokerIT is skipped: no Docker engine answers");
        }
        assumeTrue(answers, "no Docker engine answers");
    }

    @Override
    RestartableBroker start() {
        return new DockerBroker();
    }
}
