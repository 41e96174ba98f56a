package dev.puri.client.testing;

import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishOutcome;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The contract of outcomes with a running registry. */
abstract class RunningRegistryContract extends PublishOutcomeContract {
    private IdentityPublisher publisher;
    private ResolverClient resolver;

    abstract Registry registry();

    @BeforeEach
    void open() {
        publisher = new IdentityPublisher(registry().properties());
        resolver =
                ResolverClient.open(ResolverOptions.at(registry().resolverUrl()).build());
    }

    @AfterEach
    void close() {
        publisher.close();
        resolver.close();
    }

    @Override
    Position publish(Event event) {
        return publisher.publishSync(event);
    }

    @Override
    List<Delivery> publishAll(List<Event> events) {
        return publisher.publishAll(events);
    }

    @Override
    PublishOutcome await(Puri puri, Position token) throws Exception {
        return publisher.awaitSync(puri, token, Duration.ofSeconds(30));
    }

    @Override
    IdentityResolver resolver() {
        return resolver;
    }
}
