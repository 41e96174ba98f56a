package dev.puri.client.outbox;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Holds a relay at a point that the test chose, reports that, and waits for the kill. */
public final class ParkingInterceptor implements ProducerInterceptor<byte[], Object> {
    static final String POINT = "test.park.point";
    static final String COUNT = "test.park.count";
    static final String PARKED = "parked before the kill";

    /** The point at which a relay is held. */
    enum Point {
        BEFORE_SEND,
        BEFORE_ACKNOWLEDGEMENT
    }

    private final AtomicInteger left = new AtomicInteger();
    private Point point = Point.BEFORE_SEND;

    @Override
    public void configure(Map<String, ?> configs) {
        point = Point.valueOf((String) configs.get(POINT));
        left.set(Integer.parseInt((String) configs.get(COUNT)));
    }

    @Override
    public ProducerRecord<byte[], Object> onSend(ProducerRecord<byte[], Object> record) {
        reached(Point.BEFORE_SEND);
        return record;
    }

    @Override
    public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {
        reached(Point.BEFORE_ACKNOWLEDGEMENT);
    }

    private void reached(Point where) {
        if (where == point && left.decrementAndGet() == 0) {
            System.out.println(PARKED);
            while (true) {
                LockSupport.park();
            }
        }
    }

    @Override
    public void close() {}
}
