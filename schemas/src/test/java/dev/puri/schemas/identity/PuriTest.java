package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class PuriTest {
    @Test
    void keepsCanonicalTextWithoutACopy() {
        String text = new StringBuilder("a:b:").append("c").toString();
        assertThat(Puri.parse(text).toString()).isSameAs(text);
    }

    @Test
    void anErrorQuotesTheInputThePositionAndTheRule() {
        assertThatThrownBy(() -> Puri.parse("crm:people:Jane Doe"))
                .isInstanceOf(InvalidNameException.class)
                .hasMessage("\"crm:people:Jane Doe\" at position 15: ' ' is not allowed unescaped; write it as %20");
        assertThatThrownBy(() -> Puri.parse("a:b"))
                .hasMessage("\"a:b\": a pURI has three segments, namespace:collection:identifier; this text has 2");
        assertThatThrownBy(() -> Puri.parse("a:b:\n\"\\\u00e4"))
                .hasMessageStartingWith("\"a:b:\\u000a\\\"\\\\\\u00e4\" at position 4: the control character U+000A");
    }

    @Test
    void unescapedSegmentsObeyTheSameRules() {
        assertThatThrownBy(() -> Puri.of("", "b", "c")).isInstanceOfSatisfying(InvalidNameException.class, e -> {
            assertThat(e.rule()).isEqualTo(NameRule.EMPTY_SEGMENT);
            assertThat(e).hasMessageContaining("the namespace is empty");
        });
        assertThatThrownBy(() -> Puri.of("a", "b", "c\u0000")).isInstanceOfSatisfying(InvalidNameException.class, e -> {
            assertThat(e.rule()).isEqualTo(NameRule.CONTROL_CHARACTER);
            assertThat(e.position()).isEqualTo(1);
        });
        assertThatThrownBy(() -> Puri.of("a", "b\ud800", "c"))
                .isInstanceOfSatisfying(
                        InvalidNameException.class, e -> assertThat(e.rule()).isEqualTo(NameRule.INVALID_UTF8));
        assertThatThrownBy(() -> Puri.of("a", "/".repeat(22), "c"))
                .isInstanceOfSatisfying(
                        InvalidNameException.class, e -> assertThat(e.rule()).isEqualTo(NameRule.TOO_LONG));
    }

    @Test
    void plainPartsMayContainCharactersThatTextMayNot() {
        assertThat(Puri.of("Acme", "Bills", "2026/11: 100% \"ä\""))
                .hasToString("acme:bills:2026%2F11%3A%20100%25%20%22%C3%A4%22");
    }

    @Test
    void orderIsThatOfTheCanonicalText() {
        assertThat(Puri.parse("a:b:B")).isLessThan(Puri.parse("a:b:c")).isGreaterThan(Puri.parse("A:B:A"));
    }

    @Test
    void aLongTextIsRefusedWithoutACopyOfIt() {
        String text = "a:b:" + "%41".repeat(3_000_000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // Loads the classes of exception and assertion, which allocate more than the bound if this test is the first.
        assertThatThrownBy(() -> Puri.parse("a:b:%4")).isInstanceOf(InvalidNameException.class);
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatThrownBy(() -> Puri.parse(text)).isInstanceOf(InvalidNameException.class);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(2_000_000);
    }
}
