package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests without a network, with a fixed clock. */
class RequestsTest {
    private static final List<Ref> NAME = List.of(Ref.of("m:t:1"));

    private final FakeHttpClient http = new FakeHttpClient();
    private final TestTimer timer = new TestTimer();

    @AfterEach
    void stop() {
        timer.close();
    }

    private Requests requests(ResolverOptions.Builder builder) {
        ResolverOptions options = builder.build();
        return new Requests(http, options, new Addresses(options.addresses(), timer::nanos), timer, timer::nanos);
    }

    private static void assertFails(CompletableFuture<?> answer, Kind kind, String message) {
        assertThat(answer).isCompletedExceptionally();
        assertThatThrownBy(answer::join)
                .cause()
                .isInstanceOfSatisfying(
                        ResolverException.class,
                        e -> assertThat(e.kind()).as(e.toString()).isEqualTo(kind))
                .hasMessageContaining(message);
    }

    @Test
    void aThrowWhileSendingFailsTheLookUpAtOnce() {
        Requests requests = requests(ResolverOptions.at("http://a", "http://b"));
        http.refusal = new IllegalStateException("no sockets");
        assertFails(requests.send(NAME, Duration.ZERO), Kind.UNREACHABLE, "http://b: java.lang.IllegalStateException");
        http.refusal = null;
        assertThat(requests.send(NAME, Duration.ZERO)).isNotDone();
        assertThat(http.exchanges).hasSize(1);
    }

    @Test
    void theDeadlineEndsALookUpAndItsExchange() {
        Requests requests = requests(ResolverOptions.at("http://a").deadline(Duration.ofSeconds(5)));
        CompletableFuture<Requests.Answer> answer = requests.send(NAME, Duration.ZERO);
        timer.pass(Duration.ofMillis(4_999));
        assertThat(answer).isNotDone();
        timer.pass(Duration.ofMillis(1));
        assertFails(answer, Kind.DEADLINE, "within 5000 ms");
        assertThat(http.exchanges.get(0).end()).isCancelled();
    }

    @Test
    void aSilentAddressWithoutHedgingLeavesTimeForTheNext() {
        Requests requests = requests(ResolverOptions.at("http://a", "http://b").deadline(Duration.ofSeconds(6)));
        CompletableFuture<Requests.Answer> answer = requests.send(NAME, Duration.ZERO);
        timer.pass(Duration.ofMillis(2_999));
        assertThat(http.exchanges).hasSize(1);
        timer.pass(Duration.ofMillis(1));
        assertThat(http.exchanges).hasSize(2);
        assertThat(http.exchanges.get(0).end()).isCancelled();
        timer.pass(Duration.ofMillis(2_999));
        http.exchanges.get(1).answer("{\"results\":[" + FakeResolver.found("m:t:1", "br-1") + "]}");
        assertThat(answer.join().verdicts()).singleElement().isInstanceOf(Verdict.Found.class);
        assertThat(requests.failedOver()).isEqualTo(1);
    }

    @Test
    void requestsTakeTurnsAndAnExpiredOneIsNotSent() {
        Requests requests =
                requests(ResolverOptions.at("http://a").maxDirectRequests(2).deadline(Duration.ofSeconds(5)));
        List<CompletableFuture<Requests.Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            answers.add(requests.sendLimited(NAME, Duration.ZERO));
        }
        timer.pass(Duration.ofSeconds(1));
        answers.add(requests.sendLimited(NAME, Duration.ZERO));
        assertThat(http.exchanges).hasSize(2);
        assertThat(requests.send(NAME, Duration.ZERO)).as("the joined request").isNotDone();
        assertThat(http.exchanges).hasSize(3);

        http.exchanges.get(0).answer("{\"results\":[" + FakeResolver.found("m:t:1", "br-1") + "]}");
        assertThat(answers.get(0)).isCompleted();
        assertThat(http.exchanges).hasSize(4);

        CompletableFuture<Requests.Answer> late = requests.sendLimited(NAME, Duration.ofSeconds(1));
        timer.pass(Duration.ofSeconds(4));
        assertFails(answers.get(1), Kind.DEADLINE, "within 5000 ms");
        assertFails(answers.get(2), Kind.DEADLINE, "within 5000 ms");
        assertThat(http.exchanges).as("including the last two").hasSize(6);
        timer.pass(Duration.ofSeconds(1));
        assertFails(answers.get(3), Kind.DEADLINE, "within 5000 ms");
        assertThat(late).isNotDone();
    }

    @Test
    void aRequestWhoseTurnDoesNotComeReportsThat() {
        Requests requests =
                requests(ResolverOptions.at("http://a").maxDirectRequests(1).deadline(Duration.ofSeconds(5)));
        CompletableFuture<Requests.Answer> waits = requests.sendLimited(NAME, Duration.ofSeconds(60));
        CompletableFuture<Requests.Answer> isNotSent = requests.sendLimited(NAME, Duration.ZERO);
        timer.pass(Duration.ofSeconds(5));
        assertFails(isNotSent, Kind.DEADLINE, "maxDirectRequests");
        assertThat(waits).isNotDone();
        assertThat(http.exchanges).hasSize(1);
        requests.close();
        assertFails(waits, Kind.CLOSED, "closed");
        assertThat(http.exchanges).hasSize(1);
    }

    private static final List<Ref> TOKEN = List.of(Ref.of("m:t:1").at(new Position("puri.events.v1", 0, 7)));

    @Test
    void requestsThatWaitForEventsDoNotDelayOthers() {
        Requests requests =
                requests(ResolverOptions.at("http://a").maxDirectRequests(1).deadline(Duration.ofSeconds(5)));
        CompletableFuture<Requests.Answer> waits = requests.sendLimited(TOKEN, Duration.ofSeconds(60));
        CompletableFuture<Requests.Answer> alsoWaits = requests.sendLimited(TOKEN, Duration.ofSeconds(60));
        assertThat(http.exchanges).hasSize(1);
        assertThat(requests.sendLimited(NAME, Duration.ZERO))
                .as("the request for a list")
                .isNotDone();
        assertThat(http.exchanges).hasSize(2);
        requests.close();
        assertFails(waits, Kind.CLOSED, "closed");
        assertFails(alsoWaits, Kind.CLOSED, "closed");
    }

    @Test
    void aWaitWhoseTurnDoesNotComeIsNotCaughtUp() {
        Requests requests =
                requests(ResolverOptions.at("http://a").maxDirectRequests(1).deadline(Duration.ofSeconds(5)));
        CompletableFuture<Requests.Answer> waits = requests.sendLimited(TOKEN, Duration.ofSeconds(60));
        CompletableFuture<Requests.Answer> isNotSent = requests.sendLimited(TOKEN, Duration.ofSeconds(2));
        timer.pass(Duration.ofMillis(1_999));
        assertThat(isNotSent).isNotDone();
        timer.pass(Duration.ofMillis(1));
        assertThat(isNotSent)
                .isCompletedWithValue(new Requests.Answer(List.of(new Verdict.NotCaughtUp(TOKEN.get(0))), false));
        assertThat(waits).isNotDone();
        assertThat(http.exchanges).hasSize(1);
    }

    @Test
    void anAddressThatIsAskedLaterHasTheRestOfTheWait() {
        Requests requests = requests(
                ResolverOptions.at("http://a", "http://b").maxDirectRequests(1).deadline(Duration.ofSeconds(5)));
        CompletableFuture<Requests.Answer> waits = requests.sendLimited(TOKEN, Duration.ofSeconds(10));
        CompletableFuture<Requests.Answer> later = requests.sendLimited(TOKEN, Duration.ofSeconds(10));
        timer.pass(Duration.ofSeconds(3));
        http.exchanges.get(0).end().completeExceptionally(new IOException("reset"));
        timer.pass(Duration.ofSeconds(4));
        http.exchanges.get(1).answer("{\"results\":[{\"ref\":\"m:t:1\",\"verdict\":\"not-caught-up\"}]}");
        assertThat(waits).isCompleted();
        assertThat(http.exchanges)
                .extracting(each -> each.request().uri().getQuery())
                .containsExactly("wait=10000ms", "wait=7000ms", "wait=3000ms");
        timer.pass(Duration.ofSeconds(5));
        http.exchanges.get(2).end().completeExceptionally(new IOException("reset"));
        assertThat(http.exchanges.get(3).request().uri().getQuery())
                .as("after its wait")
                .isNull();
        assertThat(later).isNotDone();
    }

    @Test
    void manyRequestsInTurnThatFailAtOnceDoNotOverflowTheStack() {
        Requests requests =
                requests(ResolverOptions.at("http://a").maxDirectRequests(1).deadline(Duration.ofSeconds(5)));
        List<CompletableFuture<Requests.Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            answers.add(requests.sendLimited(NAME, Duration.ZERO));
        }
        http.refusal = new IllegalStateException("no sockets");
        http.exchanges.get(0).end().completeExceptionally(new IllegalStateException("no sockets"));
        assertThat(CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)))
                .as("all answers")
                .failsWithin(Duration.ofSeconds(60));
        assertThat(answers).allMatch(CompletableFuture::isCompletedExceptionally);
        assertFails(answers.get(9_999), Kind.UNREACHABLE, "no sockets");
    }

    @Test
    void aRequestIsCountedBeforeItsAnswer() {
        Requests requests = requests(ResolverOptions.at("http://a", "http://b"));
        List<Long> counted = new ArrayList<>();
        var unused =
                requests.send(NAME, Duration.ZERO).whenComplete((answer, error) -> counted.add(requests.failedOver()));
        http.onSend = () -> {
            http.onSend = () -> {};
            http.exchanges.get(1).answer("{\"results\":[" + FakeResolver.found("m:t:1", "br-1") + "]}");
        };
        http.exchanges.get(0).end().completeExceptionally(new IOException("reset"));
        assertThat(counted).containsExactly(1L);
    }
}
