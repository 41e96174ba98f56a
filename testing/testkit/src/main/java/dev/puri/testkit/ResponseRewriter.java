package dev.puri.testkit;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchResponseData.FetchableTopicResponse;
import org.apache.kafka.common.message.FetchResponseData.PartitionData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecords.FilterResult;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter.BatchRetention;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter.BatchRetentionResult;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.DescribeClusterResponse;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites a broker's responses: they contain the proxy's address instead of the broker's, and the fetched batches lack
 * the dropped records. Thread-safe.
 */
final class ResponseRewriter {
    /** The requests of a client whose responses can contain the address of a broker or records. */
    private static final Set<ApiKeys> REWRITTEN = EnumSet.of(
            ApiKeys.METADATA, ApiKeys.DESCRIBE_CLUSTER, ApiKeys.FIND_COORDINATOR, ApiKeys.FETCH, ApiKeys.PRODUCE);

    private final String host;
    private final int port;
    private final List<RecordDrop> drops = new CopyOnWriteArrayList<>();

    /** Names of topics by id, from metadata responses. Newer fetch responses contain only the ids. */
    private final Map<Uuid, String> topicNames = new ConcurrentHashMap<>();

    ResponseRewriter(String host, int port) {
        this.host = host;
        this.port = port;
    }

    void add(RecordDrop drop) {
        drops.add(drop);
    }

    /** Returns the header of a request whose response must be passed to {@link #rewrite}, or null. */
    static @Nullable RequestHeader rewrittenRequest(ByteBuffer request) {
        short key = request.getShort(request.position());
        if (!ApiKeys.hasId(key) || !REWRITTEN.contains(ApiKeys.forId(key))) {
            return null;
        }
        RequestHeader header = RequestHeader.parse(request);
        return hasResponse(header, request) ? header : null;
    }

    private static boolean hasResponse(RequestHeader header, ByteBuffer body) {
        if (header.apiKey() != ApiKeys.PRODUCE) {
            return true;
        }
        AbstractRequest request = AbstractRequest.parseRequest(
                        header.apiKey(), header.apiVersion(), new ByteBufferAccessor(body))
                .request;
        return ((ProduceRequest) request).acks() != 0;
    }

    /** Returns the rewritten response; the same object if nothing in it changes. */
    ByteBuffer rewrite(RequestHeader request, ByteBuffer response) {
        AbstractResponse parsed = AbstractResponse.parseResponse(response.duplicate(), request);
        return replace(parsed) ? serialize(request, parsed) : response;
    }

    private static ByteBuffer serialize(RequestHeader request, AbstractResponse response) {
        short version = request.apiVersion();
        return RequestUtils.serialize(
                request.toResponseHeader().data(),
                request.apiKey().responseHeaderVersion(version),
                response.data(),
                version);
    }

    /** Replaces addresses and records in a response. Returns whether anything has changed. */
    private boolean replace(AbstractResponse response) {
        if (response instanceof MetadataResponse metadata) {
            return replace(metadata.data());
        }
        if (response instanceof FindCoordinatorResponse coordinator) {
            return replace(coordinator.data());
        }
        if (response instanceof DescribeClusterResponse cluster) {
            cluster.data().brokers().forEach(each -> each.setHost(host).setPort(port));
            return true;
        }
        if (response instanceof ProduceResponse produced) {
            // A broker that is not the leader names the leader.
            produced.data().nodeEndpoints().forEach(each -> each.setHost(host).setPort(port));
            return !produced.data().nodeEndpoints().isEmpty();
        }
        if (response instanceof FetchResponse fetched) {
            fetched.data().nodeEndpoints().forEach(each -> each.setHost(host).setPort(port));
            return dropRecords(fetched) | !fetched.data().nodeEndpoints().isEmpty();
        }
        throw new IllegalStateException("unexpected response " + response.apiKey());
    }

    private boolean replace(MetadataResponseData metadata) {
        if (metadata.brokers().size() > 1) {
            throw new IllegalStateException(
                    "the cluster has " + metadata.brokers().size() + " brokers; a proxy supports only one broker");
        }
        metadata.brokers().forEach(each -> each.setHost(host).setPort(port));
        metadata.topics().forEach(each -> {
            if (each.name() != null && !each.topicId().equals(Uuid.ZERO_UUID)) {
                topicNames.put(each.topicId(), each.name());
            }
        });
        return true;
    }

    private boolean replace(FindCoordinatorResponseData response) {
        // Older versions have one coordinator, newer versions a list. A response with an error has no address.
        if (response.port() > 0) {
            response.setHost(host).setPort(port);
        }
        response.coordinators().stream()
                .filter(each -> each.port() > 0)
                .forEach(each -> each.setHost(host).setPort(port));
        return true;
    }

    private boolean dropRecords(FetchResponse response) {
        if (drops.isEmpty()) {
            return false;
        }
        boolean hasDropped = false;
        for (FetchableTopicResponse topic : response.data().responses()) {
            for (PartitionData data : topic.partitions()) {
                if (data.records() instanceof MemoryRecords records && records.sizeInBytes() > 0) {
                    hasDropped |= dropRecords(new TopicPartition(name(topic), data.partitionIndex()), data, records);
                }
            }
        }
        return hasDropped;
    }

    private String name(FetchableTopicResponse topic) {
        if (!topic.topic().isEmpty()) {
            return topic.topic();
        }
        String name = topicNames.get(topic.topicId());
        if (name == null) {
            throw new IllegalStateException("a client fetches topic " + topic.topicId()
                    + ", whose name is unknown because no metadata response has contained it");
        }
        return name;
    }

    private boolean dropRecords(TopicPartition partition, PartitionData data, MemoryRecords records) {
        DropFilter filter = new DropFilter(partition);
        FilterResult result =
                records.filterTo(filter, ByteBuffer.allocate(records.sizeInBytes()), BufferSupplier.NO_CACHING);
        if (!filter.hasDropped) {
            return false;
        }
        ByteBuffer remaining = result.outputBuffer();
        remaining.flip();
        data.setRecords(MemoryRecords.readableRecords(remaining));
        return true;
    }

    private boolean drops(TopicPartition partition, Record record) {
        byte @Nullable [] key = Utils.toNullableArray(record.key());
        boolean isDropped = false;
        for (RecordDrop drop : drops) {
            isDropped |= drop.drops(partition, record.offset(), key);
        }
        return isDropped;
    }

    /**
     * Removes records as Kafka's log cleaner does: a batch keeps its offsets, producer and flags, and stays as an empty
     * batch if all its records are removed.
     */
    private final class DropFilter extends RecordFilter {
        private final TopicPartition partition;
        private boolean hasDropped;

        DropFilter(TopicPartition partition) {
            // The sum is the delete horizon of batches with tombstones: none.
            super(RecordBatch.NO_TIMESTAMP, 0);
            this.partition = partition;
        }

        @Override
        protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
            return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, false);
        }

        @Override
        protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
            boolean isDropped = !batch.isControlBatch() && drops(partition, record);
            hasDropped |= isDropped;
            return !isDropped;
        }
    }
}
