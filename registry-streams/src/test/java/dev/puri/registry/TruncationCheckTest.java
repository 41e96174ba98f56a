package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.log.Topics;
import dev.puri.testkit.InMemoryTopics;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TruncationCheckTest {
    private static final String CHANGELOG = RegistrarChangelogs.registrationsTopic("puri-registry");

    private final InMemoryTopics topics = new InMemoryTopics();

    @BeforeEach
    void createTopics() {
        Stream.of(CHANGELOG, Topics.COLLECTIONS, Topics.IDENTITIES).forEach(topic -> topics.create(topic, 2));
    }

    private List<String> check(String... names) {
        List<TopicPartition> partitions = Stream.of(names)
                .flatMap(name -> Stream.of(new TopicPartition(name, 0), new TopicPartition(name, 1)))
                .toList();
        return TruncationCheck.ofPartitions(topics.admin(), partitions);
    }

    @Test
    void acceptsTopicsThatBeginAtOffsetZero() {
        topics.setEnd(new TopicPartition(CHANGELOG, 1), 100);

        assertThat(check(CHANGELOG, Topics.COLLECTIONS, Topics.IDENTITIES)).isEmpty();
    }

    @Test
    void reportsTheFirstTruncatedPartitionOfEachTopicWithTheRemedyForItsData() {
        topics.setBegin(new TopicPartition(CHANGELOG, 0), 4);
        topics.setBegin(new TopicPartition(CHANGELOG, 1), 5);
        topics.setBegin(new TopicPartition(Topics.COLLECTIONS, 1), 6);
        topics.setBegin(new TopicPartition(Topics.IDENTITIES, 1), 7);

        assertThat(check(CHANGELOG, Topics.COLLECTIONS, Topics.IDENTITIES))
                .satisfiesExactly(
                        changelog -> assertThat(changelog)
                                .startsWith(
                                        "records of partition 0 of " + CHANGELOG + " before offset 4 were deleted: ")
                                .contains("could be claimed again")
                                .contains("docs/disasters.md"),
                        collections -> assertThat(collections)
                                .startsWith(
                                        "records of partition 1 of puri.collections.v1 before offset 6 were deleted")
                                .contains("apply the declarations again"),
                        identities -> assertThat(identities)
                                .startsWith("records of partition 1 of puri.identities.v1 before offset 7 were deleted")
                                .contains("restore the topic"));
    }

    @Test
    void failsWithAKafkaExceptionWhileNoBrokerAnswers() {
        topics.setAway(true);

        assertThatThrownBy(() -> check(CHANGELOG)).isInstanceOf(KafkaException.class);
    }
}
