package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The routes of health. */
final class HealthRoutesTest extends RunningListener {
    @Test
    void healthIsDownWhileACheckIs() {
        assertThat(get("/health/ready").body()).isEqualTo("{\"status\":\"UP\",\"checks\":[]}\n");
        health.add(Health.Kind.READY, "table", () -> Health.State.down(Map.of("rows", 7L)));

        HttpResponse<String> down = get("/health/ready");

        assertThat(down.statusCode()).isEqualTo(503);
        assertThat(down.body())
                .isEqualTo("{\"status\":\"DOWN\",\"checks\":[{\"name\":\"table\",\"status\":\"DOWN\",\"data\":"
                        + "{\"rows\":7}}]}\n");
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
        assertThat(get("/health/started").statusCode()).isEqualTo(200);
    }

    @Test
    void bareHealthHasNoDetails() {
        health.add(Health.Kind.READY, "table", () -> Health.State.down(Map.of("rows", 7L)));
        try (Listener bare = Listener.start(OPTIONS.named("public"), health.routesWithoutDetails(), metrics)) {
            String base = "http://127.0.0.1:" + bare.port() + "/health/";
            HttpResponse<String> ready = send(HttpRequest.newBuilder(URI.create(base + "ready")));

            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).isEqualTo("{\"status\":\"DOWN\",\"checks\":[]}\n");
            assertThat(send(HttpRequest.newBuilder(URI.create(base + "live"))).statusCode())
                    .isEqualTo(200);
            assertThat(send(HttpRequest.newBuilder(URI.create(base + "started")))
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void aHealthCheckNeedsNoMoreThanASocket() throws IOException {
        assertThat(raw("GET /health/ready HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.0 200 ");
    }
}
