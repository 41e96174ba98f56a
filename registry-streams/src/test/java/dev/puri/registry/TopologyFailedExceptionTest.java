package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;

class TopologyFailedExceptionTest {
    @Test
    void messageBeginsWithTheRootCause() {
        Throwable full = new StreamsException(
                "stream-thread [1] task 2_0 failed\n\tat somewhere",
                new ProcessorStateException(
                        "Error flushing the store parked", new RocksDBException("No space left on device")));
        assertThat(new TopologyFailedException(full))
                .hasMessage("the topology failed: No space left on device (stream-thread [1] task 2_0 failed)")
                .hasCause(full);
    }

    @Test
    void errorsAreNamed() {
        assertThat(new TopologyFailedException(new OutOfMemoryError("Java heap space")))
                .hasMessage("the topology failed: java.lang.OutOfMemoryError: Java heap space");
    }
}
