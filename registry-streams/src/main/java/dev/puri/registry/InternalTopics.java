package dev.puri.registry;

import dev.puri.schemas.log.Topics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * The internal topics of the topology: repartition topics and changelogs. Checks that the topics from which state is
 * restored have all their records, and creates lost changelogs. {@link RegistryTopics} checks the configuration of the
 * internal topics, too.
 */
public final class InternalTopics {
    static final String CHANGELOG_SUFFIX = "-changelog";

    private InternalTopics() {}

    /**
     * Checks that no changelog is missing although the topology has run. It has run if another internal topic exists,
     * or the identities topic has had records. Kafka Streams would create the changelog empty, and with an empty store
     * a pURI or handle that is taken could be claimed again. Not part of {@link RegistryTopics#check}, because the
     * topics are missing for a moment when the topology starts for the first time.
     *
     * @return a sentence for each missing changelog, with the remedy
     */
    public static List<String> checkChangelogs(Admin admin, String applicationId) {
        Set<String> existing = RegistryTopics.await(admin.listTopics().names());
        List<String> missing = changelogs(applicationId)
                .filter(name -> !existing.contains(name))
                .toList();
        if (missing.isEmpty()
                || names(applicationId).noneMatch(existing::contains)
                        && !hasHadRecords(admin, Topics.IDENTITIES, existing)) {
            return List.of();
        }
        return missing.stream()
                .map(name -> name + " is missing, although the topology " + applicationId
                        + " has run: with an empty store, pURIs and handles that are taken could be claimed again; follow"
                        + " docs/disasters.md, \"Changelogs lost\"")
                .toList();
    }

    /**
     * Does the same as {@link #checkChangelogs} if there are identities. It never reports a mistake while a topology
     * starts for the first time.
     */
    static List<String> checkChangelogsOfIdentities(Admin admin, String applicationId) {
        return hasHadRecords(
                        admin,
                        Topics.IDENTITIES,
                        RegistryTopics.await(admin.listTopics().names()))
                ? checkChangelogs(admin, applicationId)
                : List.of();
    }

    /**
     * Checks that no records of a compacted topic were deleted other than by compaction: changelogs, declarations,
     * identities and documents. State that is restored from such a topic, and copies of it, lack what the records
     * contained.
     *
     * @return a sentence for each topic that lacks records, with the remedy
     */
    public static List<String> checkTruncation(Admin admin, String applicationId) {
        List<String> copied = new ArrayList<>(List.of(Topics.IDENTITIES, Topics.DOCUMENTS));
        copied.addAll(restoredTopics(applicationId));
        return TruncationCheck.ofTopics(admin, copied);
    }

    /** Does the same as {@link #checkTruncation} for the topics from which the topology restores its state. */
    static List<String> checkTruncationOfState(Admin admin, String applicationId) {
        return TruncationCheck.ofTopics(admin, restoredTopics(applicationId));
    }

    /**
     * Returns the topics from which the topology restores its state. Repartition topics are not among them: Kafka
     * Streams deletes their records when it has processed them.
     */
    private static List<String> restoredTopics(String applicationId) {
        return Stream.concat(Stream.of(Topics.COLLECTIONS), changelogs(applicationId))
                .toList();
    }

    /**
     * Checks that the identities topic was not deleted and created again. The registrar writes registrations to its
     * changelog and their rows to the topic, in one transaction. So the topic is new if a partition of the changelog
     * has had records, and that of the topic has not. When the registrar publishes a digest to the new topic, the
     * partition has a record, but then the copies report that they differ.
     *
     * @return a sentence with the remedy; empty if there are no mistakes
     */
    public static List<String> checkForNewIdentitiesTopic(Admin admin, String applicationId) {
        Set<String> existing = RegistryTopics.await(admin.listTopics().names());
        if (!existing.contains(Topics.IDENTITIES)) {
            // RegistryTopics reports the missing topic.
            return List.of();
        }
        String registrations = RegistrarChangelogs.registrationsTopic(applicationId);
        // First the changelog: a transaction that commits in between has records in both topics at the second request.
        Set<Integer> lost = partitionsWithRecords(admin, registrations, existing);
        lost.removeAll(partitionsWithRecords(admin, Topics.IDENTITIES, existing));
        return lost.isEmpty()
                ? List.of()
                : List.of(Topics.IDENTITIES + " has never had records in the partitions " + lost + ", although "
                        + registrations
                        + " has: the topic was deleted and created again, so resolvers and indexers that"
                        + " start lack rows; follow docs/disasters.md, \"Identities topic lost\"");
    }

    /** Whether a topic exists and has had records. */
    private static boolean hasHadRecords(Admin admin, String topic, Set<String> existing) {
        return !partitionsWithRecords(admin, topic, existing).isEmpty();
    }

    /** Returns the partitions of a topic that have had records; empty if the topic does not exist. */
    private static Set<Integer> partitionsWithRecords(Admin admin, String topic, Set<String> existing) {
        Set<Integer> withRecords = new TreeSet<>();
        if (!existing.contains(topic)) {
            return withRecords;
        }
        Map<TopicPartition, OffsetSpec> latest = new LinkedHashMap<>();
        int partitions = RegistryTopics.partitions(admin, topic);
        for (int i = 0; i < partitions; i++) {
            latest.put(new TopicPartition(topic, i), OffsetSpec.latest());
        }
        RegistryTopics.await(admin.listOffsets(latest).all()).forEach((partition, end) -> {
            if (end.offset() > 0) {
                withRecords.add(partition.partition());
            }
        });
        return withRecords;
    }

    /**
     * Creates the changelogs that are missing, without records. A topology that finds them starts with empty stores.
     *
     * @param replicationFactor replication factor of each new topic; -1 for the cluster's default
     */
    public static List<RegistryTopics.TopicState> createChangelogs(
            Admin admin, String applicationId, short replicationFactor) {
        int partitions = RegistryTopics.partitions(admin);
        Set<String> existing = RegistryTopics.await(admin.listTopics().names());
        List<NewTopic> missing = changelogs(applicationId)
                .filter(name -> !existing.contains(name))
                .map(name ->
                        RegistryTopics.newTopic(name, partitions, replicationFactor, RegistryTopics.COMPACTED_CONFIG))
                .toList();
        RegistryTopics.await(admin.createTopics(missing).all());
        Set<String> names = missing.stream().map(NewTopic::name).collect(Collectors.toUnmodifiableSet());
        return RegistryTopics.readNewTopics(admin, names).values().stream()
                .map(topic -> new RegistryTopics.TopicState(
                        topic.name(), topic.partitions(), topic.replicationFactor(), true, List.of()))
                .toList();
    }

    static boolean isInternal(String topic, String applicationId) {
        return names(applicationId).anyMatch(topic::equals);
    }

    /** Returns the names of the internal topics, which Kafka Streams creates. */
    static Stream<String> names(String applicationId) {
        return Stream.concat(
                        RegistryTopology.REPARTITION_TOPICS.stream(),
                        RegistryTopology.CHANGELOG_STORES.stream().map(store -> store + CHANGELOG_SUFFIX))
                .map(name -> applicationId + '-' + name);
    }

    private static Stream<String> changelogs(String applicationId) {
        return names(applicationId).filter(name -> name.endsWith(CHANGELOG_SUFFIX));
    }
}
