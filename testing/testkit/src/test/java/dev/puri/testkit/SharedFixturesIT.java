package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

class SharedFixturesIT {
    @Test
    void theBrokerIsSharedAndServes() throws Exception {
        Broker broker = Broker.shared();
        assertThat(Broker.shared()).isSameAs(broker);
        BrokerContract.createTopic(broker, "shared");
        BrokerContract.send(broker, "shared", "here");
        assertThat(BrokerContract.first(broker, "shared")).isEqualTo("here");
    }

    @Test
    void theSchemaRegistryIsSharedAndServes() throws Exception {
        SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
        assertThat(SchemaRegistryFixture.shared()).isSameAs(registry);
        assertThat(subjects(registry)).isEqualTo("[]");
    }

    @Test
    void aRestartedSchemaRegistryKeepsItsAddress() throws Exception {
        try (RestartableSchemaRegistry registry = SchemaRegistryFixture.start()) {
            String url = registry.url();
            registry.stop();
            registry.start();
            assertThat(registry.url()).isEqualTo(url);
            assertThat(subjects(registry)).isEqualTo("[]");
        }
    }

    private static String subjects(SchemaRegistryFixture registry) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(registry.url() + "/subjects")).build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
