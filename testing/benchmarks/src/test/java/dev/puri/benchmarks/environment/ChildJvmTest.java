package dev.puri.benchmarks.environment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
    /** Runs forever unless its parent ends. */
    static final class Endless {
        private Endless() {}

        public static void main(String[] args) throws InterruptedException {
            ChildJvm.endWithParent();
            System.out.println(System.getProperty("greeting") + String.join(" ", args));
            new CountDownLatch(1).await();
        }
    }

    @Test
    void childEndsWhenTheParentClosesItsPipe() throws Exception {
        List<String> command = ChildJvm.command(List.of("-Dgreeting=hello, "), Endless.class, List.of("one", "two"));
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader printed = child.inputReader()) {
            assertThat(printed.readLine()).isEqualTo("hello, one two");
            assertThat(child.isAlive()).isTrue();

            // The system does the same when a parent ends, even by a kill.
            child.getOutputStream().close();

            assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(child.exitValue()).isEqualTo(1);
        } finally {
            child.destroyForcibly();
        }
    }
}
