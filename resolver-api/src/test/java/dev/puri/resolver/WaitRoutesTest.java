package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

/** Look-ups with a token, which wait for its event. */
final class WaitRoutesTest extends ServedRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A name in the partition of the event whose position the tests' rows have. */
    private static final String OF_THE_EVENT = nameInPartition(3);

    private static String nameInPartition(int partition) {
        for (int i = 0; ; i++) {
            Puri puri = Puri.parse("soundcloud:tracks:w" + i);
            if (Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS == partition) {
                return puri.toString();
            }
        }
    }

    @Test
    void aTokenIsAnsweredOnceItsEventIsSeen() throws Exception {
        CompletableFuture<HttpResponse<String>> waiting =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-1042&wait=20s"))
                        .build());
        await().until(() -> waiters.count() == 1);
        assertThat(waiting).isNotDone();

        put(OF_THE_EVENT, Rows.active("br-1"));
        waiters.wake(Puri.parse(OF_THE_EVENT));

        assertThat(waiting.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-1000", 200)).contains("\"verdict\":\"found\"");
        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-1043", 504))
                .startsWith("{\"ref\":\"" + OF_THE_EVENT + "\",\"verdict\":\"not-caught-up\",\"puri\":\"" + OF_THE_EVENT
                        + "\",\"at\":\"3-1043\",\"detail\":\"the event 3-1043 is pending: ");
    }

    @Test
    void aRefusedEventIsAConflict() {
        outcomes.addRefused(Puri.parse(OF_THE_EVENT), Position.parse("3-7"), Reason.PURI_TAKEN);

        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-7", 409))
                .isEqualTo("{\"ref\":\"" + OF_THE_EVENT + "\",\"verdict\":\"refused\",\"puri\":\"" + OF_THE_EVENT
                        + "\",\"at\":\"3-7\",\"reason\":\"PURI_TAKEN\"}\n");
    }

    @Test
    void invalidTokensAndWaitsAreRefused() {
        String path = "/v1/identities/" + OF_THE_EVENT;
        assertThat(get(path + "?at=4-7", 400)).contains("/problems/foreign-token");
        for (String none :
                List.of("x", "03-1", "3-+1", "3-9223372036854775808", "3-1%0D%0Ax", "", "3-".repeat(3_000))) {
            assertThat(get(path + "?at=" + none, 400)).as(none).contains("/problems/invalid-token");
        }
        assertThat(get(path + "?wait=2s", 400)).contains("/problems/invalid-parameter");
        assertThat(get(path + "?at=3-7&wait=21s", 400)).contains("/problems/invalid-parameter");
        assertThat(get(path + "?at=3-7&wait=soon", 400)).contains("/problems/invalid-parameter");
    }

    @Test
    void aBatchWaitsForAllItsTokens() throws Exception {
        outcomes.addRefused(Puri.parse(OF_THE_EVENT), Position.parse("3-7"), Reason.PURI_TAKEN);
        String body = "{\"refs\":[\"soundcloud:tracks:123\",{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-1042\"},"
                + "{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-7\"},{\"ref\":\"" + OF_THE_EVENT
                + "\",\"at\":\"nothing\"},{\"ref\":\"" + OF_THE_EVENT + "\"}]}";
        CompletableFuture<HttpResponse<String>> waiting =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/resolve?wait=20s"))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build());
        await().until(() -> waiters.count() == 1);

        put(OF_THE_EVENT, Rows.active("br-1"));
        waiters.wake(Puri.parse(OF_THE_EVENT));

        JsonNode results =
                JSON.readTree(waiting.get(20, TimeUnit.SECONDS).body()).get("results");
        assertThat(results)
                .extracting(result -> result.get("verdict").asText())
                .containsExactly("found", "found", "refused", "malformed", "found");
    }

    @Test
    void aConnectionWithTooManyWaitsDoesNotPreventOthersFromWaiting() throws Exception {
        String ref = "{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-2000\"}";
        HttpResponse<String> tooMuch = contract.send(HttpRequest.newBuilder(uri("/v1/resolve?wait=20s"))
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"refs\":[" + ref + "," + ref + "," + ref + "," + ref + "]}"))
                .build());
        assertThat(tooMuch.statusCode()).isEqualTo(503);
        assertThat(tooMuch.body()).contains("/problems/too-many-waiters", "3 requests of this connection");
        assertThat(waiters.count()).isZero();

        CompletableFuture<HttpResponse<String>> other =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s"))
                        .build());
        await().until(() -> waiters.count() == 1);
        waiters.close();
        assertThat(other.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
    }

    @Test
    void tooManyWaitsAre503() {
        List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            waiting.add(contract.sendAsync(
                    HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s"))
                            .build()));
        }
        await().until(() -> waiters.count() == 30);

        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s", 503))
                .contains("/problems/too-many-waiters");
        waiters.close();
        assertThat(waiting)
                .allSatisfy(
                        answer -> assertThat(answer.get(20, TimeUnit.SECONDS).statusCode())
                                .isEqualTo(504));
    }

    @Test
    void waitsOfADisconnectedClientEnd() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", listener.port())) {
            socket.getOutputStream()
                    .write(("GET /v1/identities/" + OF_THE_EVENT
                                    + "?at=3-2000&wait=20s HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            await().until(() -> waiters.count() == 1);
        }
        await().until(() -> waiters.count() == 0);
    }
}
