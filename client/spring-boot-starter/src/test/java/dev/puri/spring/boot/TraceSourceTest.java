package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.outbox.TraceContext;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Trace contexts of the tracer that Boot configures, here Brave's. */
class TraceSourceTest {
    private final ApplicationContextRunner untraced = Contexts.runner()
            .withBean(DataSource.class, Contexts::noDatabase)
            .withPropertyValues("puri.outbox.dialect=postgresql", "puri.outbox.relay.enabled=false");
    private final ApplicationContextRunner traced;

    TraceSourceTest() throws ClassNotFoundException {
        String boot = "org.springframework.boot.";
        traced = untraced.withConfiguration(
                Contexts.isBoot4()
                        ? AutoConfigurations.of(
                                Class.forName(boot + "micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration"),
                                Class.forName(
                                        boot + "micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration"))
                        : AutoConfigurations.of(
                                Class.forName(boot + "actuate.autoconfigure.tracing.BraveAutoConfiguration"),
                                Class.forName(
                                        boot + "actuate.autoconfigure.tracing.MicrometerTracingAutoConfiguration")));
    }

    /** The starter's configuration would come before Boot's if it did not name Boot's classes. */
    @Test
    void theTraceContextIsThatOfTheCurrentSpan() {
        traced.run(context -> {
            assertThat(context).hasNotFailed();
            Tracer tracer = context.getBean(Tracer.class);
            TraceSource source = context.getBean(TraceSource.class);
            assertThat(source.current()).isNull();
            Span span = tracer.nextSpan().start();
            try (Tracer.SpanInScope unused = tracer.withSpan(span)) {
                TraceContext current = source.current();
                assertThat(current).isNotNull();
                assertThat(current.traceparent())
                        .startsWith("00-" + span.context().traceId() + "-"
                                + span.context().spanId() + "-");
            } finally {
                span.end();
            }
            assertThat(source.current()).isNull();
        });
    }

    @Test
    void withoutATracerThereIsNoTraceSource() {
        untraced.run(context -> assertThat(context)
                .hasNotFailed()
                .hasSingleBean(TransactionOutbox.class)
                .doesNotHaveBean(TraceSource.class));
        untraced.withClassLoader(new FilteredClassLoader("io.micrometer.tracing"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(TransactionOutbox.class)
                        .doesNotHaveBean("puriTraceSource"));
    }

    @Test
    void theApplicationsOwnTraceSourceTakesThePlaceOfBoots() {
        TraceSource own = () -> null;
        traced.withBean(TraceSource.class, () -> own)
                .run(context -> assertThat(context.getBean(TraceSource.class)).isSameAs(own));
    }

    /** Another propagator has no traceparent; the event is then added without a trace. */
    @Test
    void aPropagatorOfAnotherFormatLeavesNoTraceContext() {
        traced.withPropertyValues("management.tracing.propagation.type=b3").run(context -> {
            Tracer tracer = context.getBean(Tracer.class);
            try (Tracer.SpanInScope unused = tracer.withSpan(tracer.nextSpan().start())) {
                assertThat(context.getBean(TraceSource.class).current()).isNull();
            }
        });
    }
}
