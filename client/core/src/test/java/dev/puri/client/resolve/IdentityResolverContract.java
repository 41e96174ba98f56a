package dev.puri.client.resolve;

import static dev.puri.client.resolve.ContractRegistry.EVENTS;
import static dev.puri.client.resolve.ContractRegistry.IMPORTED;
import static dev.puri.client.resolve.ContractRegistry.IMPORTED_PREFIX;
import static dev.puri.client.resolve.ContractRegistry.NAMESPACE;
import static dev.puri.client.resolve.ContractRegistry.OWNER;
import static dev.puri.client.resolve.ContractRegistry.PARTITIONS;
import static dev.puri.client.resolve.ContractRegistry.TIME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The contract of every {@link IdentityResolver}, independent of the source of its answers. */
public abstract class IdentityResolverContract {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final long SEED = Long.getLong("puri.contract.seed", System.nanoTime());

    /** More references than a resolver takes in one request. */
    private static final int MANY = 2_500;

    private final ContractRegistry registry;
    private IdentityResolver resolver;

    protected IdentityResolverContract(ContractRegistry registry) {
        this.registry = registry;
    }

    /**
     * Opens one that answers.
     *
     * @param maxPending references that may be pending
     */
    protected abstract IdentityResolver open(int maxPending) throws Exception;

    @BeforeEach
    void open() throws Exception {
        resolver = open(20_000);
    }

    @AfterEach
    void close() {
        resolver.close();
    }

    private Verdict settled(Puri puri, Position token) {
        return resolver.resolve(Ref.of(puri).at(token), WAIT);
    }

    private static Verdict.Found found(NewIdentity identity, String shard, long epoch, Verdict like) {
        return new Verdict.Found(
                identity.puri(),
                identity.handle(),
                new Placement(OWNER, new Shard(shard), identity.uuid()),
                epoch,
                TIME,
                ((Verdict.Found) like).changedAt());
    }

    @Test
    void anIdentityIsFoundByEverySpellingOfItsNameAndByItsHandle() throws Exception {
        NewIdentity track = registry.mint();
        Verdict found = settled(track.puri(), registry.create(track, "br-1"));
        Handle handle = Objects.requireNonNull(track.handle());

        assertThat(found).isEqualTo(found(track, "br-1", 1, found));
        assertThat(((Verdict.Found) found).changedAt()).isEqualTo(TIME);
        assertThat(resolver.resolve(track.puri().toString().toUpperCase(Locale.ROOT)))
                .isEqualTo(found);
        assertThat(resolver.resolve(handle.text())).isEqualTo(found);
        assertThat(resolver.resolve(handle.text().toUpperCase(Locale.ROOT))).isEqualTo(found);
        assertThat(resolver.resolveAsync(Ref.of(handle), Duration.ZERO)
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .isEqualTo(found);
    }

    @Test
    void aMixedListHasEveryVerdictInTheRequestedOrder() throws Exception {
        NewIdentity active = registry.mint();
        NewIdentity merged = registry.mint();
        NewIdentity twice = registry.mint();
        NewIdentity lost = registry.mint();
        NewIdentity deleted = registry.mint();
        NewIdentity intoDeleted = registry.mint();
        NewIdentity erased = registry.mint();
        Puri nowhere = registry.name();
        for (NewIdentity each : List.of(active, merged, twice, lost, deleted, intoDeleted, erased)) {
            registry.create(each, "br-1");
        }
        settled(merged.puri(), registry.publish(EVENTS.merged(merged.puri(), active.puri())));
        settled(twice.puri(), registry.publish(EVENTS.merged(twice.puri(), merged.puri())));
        settled(lost.puri(), registry.publish(EVENTS.merged(lost.puri(), nowhere)));
        settled(intoDeleted.puri(), registry.publish(EVENTS.merged(intoDeleted.puri(), deleted.puri())));
        settled(deleted.puri(), registry.publish(EVENTS.deleted(deleted.puri())));
        settled(erased.puri(), registry.publish(EVENTS.erased(erased.puri())));
        Verdict found = settled(active.puri(), registry.publish(EVENTS.moved(active.puri(), new Shard("us-1"))));
        Placement placement = new Placement(OWNER, new Shard("us-1"), active.uuid());

        List<Verdict> verdicts = resolver.resolveAll(Ref.all(List.of(
                twice.puri().toString(),
                "no name at all",
                text(merged.handle()),
                text(active.handle()),
                text(deleted.handle()),
                erased.puri().toString(),
                nowhere.toString(),
                "ctr_999999999999999",
                lost.puri().toString(),
                intoDeleted.puri().toString(),
                active.puri().toString(),
                "ctr_1",
                active.puri().toString())));

        assertThat(verdicts).hasSize(13);
        assertThat(found).isEqualTo(found(active, "us-1", 2, found));
        assertThat(List.of(3, 10, 12))
                .allSatisfy(i -> assertThat(verdicts.get(i)).isEqualTo(found));
        isMerged(verdicts.get(0), twice, active.puri(), placement);
        isMerged(verdicts.get(2), merged, active.puri(), placement);
        isMerged(verdicts.get(8), lost, nowhere, null);
        assertThat(((Verdict.Merged) verdicts.get(8)).detail()).contains(nowhere + ", which is not known");
        isDeleted(verdicts.get(4), deleted, null);
        isDeleted(verdicts.get(9), intoDeleted, deleted.puri());
        assertThat(verdicts.get(5)).isEqualTo(new Verdict.Unknown(Ref.of(erased.puri())));
        assertThat(verdicts.get(6)).isEqualTo(new Verdict.Unknown(Ref.of(nowhere)));
        assertThat(verdicts.get(7)).isEqualTo(new Verdict.Unknown(Ref.of("ctr_999999999999999")));
        for (int i : List.of(1, 11)) {
            assertThat(verdicts.get(i)).isInstanceOf(Verdict.Malformed.class);
        }
        assertThat(((Verdict.Malformed) verdicts.get(1)).ref().text()).isEqualTo("no name at all");
    }

    private static String text(Handle handle) {
        return Objects.requireNonNull(handle).text();
    }

    private static void isMerged(Verdict verdict, NewIdentity asked, Puri canonical, Placement placement) {
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Merged.class, merged -> {
            assertThat(merged.puri()).isEqualTo(asked.puri());
            assertThat(merged.handle()).isEqualTo(asked.handle());
            assertThat(merged.canonical()).isEqualTo(canonical);
            assertThat(merged.placement()).isEqualTo(placement);
            assertThat(merged.epoch()).isEqualTo(2);
            assertThat(merged.createdAt()).isEqualTo(TIME);
        });
    }

    private static void isDeleted(Verdict verdict, NewIdentity asked, Puri canonical) {
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Deleted.class, deleted -> {
            assertThat(deleted.puri()).isEqualTo(asked.puri());
            assertThat(deleted.handle()).isEqualTo(asked.handle());
            assertThat(deleted.canonical()).isEqualTo(canonical);
            assertThat(deleted.epoch()).isEqualTo(2);
            assertThat(deleted.placement()).isNull();
        });
    }

    @Test
    void unknownNamesOfACollectionAreMarkedWhileItIsImported() throws Exception {
        List<Ref> refs = Ref.all(List.of(
                "contract:albums:none", "cta_222222222222222", "contract:tracks:none", "ctr_222222222222222", "none"));
        Ref album = refs.get(0);

        declareAlbums(WriteMode.importBy("importer"));

        await().atMost(WAIT)
                .untilAsserted(() -> assertThat(resolver.resolve(album)).isEqualTo(new Verdict.Unknown(album, true)));
        List<Verdict> verdicts = resolver.resolveAll(refs);
        assertThat(verdicts.subList(0, 4))
                .containsExactly(
                        new Verdict.Unknown(album, true),
                        new Verdict.Unknown(refs.get(1), true),
                        new Verdict.Unknown(refs.get(2), false),
                        new Verdict.Unknown(refs.get(3), false));
        assertThat(verdicts.get(4)).isInstanceOf(Verdict.Malformed.class);
        assertThat(resolver.resolveAsync(refs.get(1), Duration.ZERO)
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .isEqualTo(new Verdict.Unknown(refs.get(1), true));

        declareAlbums(WriteMode.READ_WRITE);

        await().atMost(WAIT)
                .untilAsserted(() -> assertThat(resolver.resolve(album)).isEqualTo(new Verdict.Unknown(album, false)));
    }

    private void declareAlbums(WriteMode mode) {
        registry.declare(new Collection(
                NAMESPACE,
                IMPORTED,
                IMPORTED_PREFIX,
                Set.of(),
                false,
                SearchedAttributes.DEFAULT,
                false,
                "",
                false,
                mode));
    }

    @Test
    void anInvalidTextIsAnsweredWithBothFormsAndTheErrorOfEach() {
        assertThat(detail("junk"))
                .isEqualTo("\"junk\" is neither a pURI, namespace:collection:identifier, nor a handle, such as"
                        + " trk_4k7vx9tz2nqr8w3. As a pURI: a pURI has three segments,"
                        + " namespace:collection:identifier; this text has 1. As a handle: a handle is three letters, an"
                        + " underscore and 15 characters of " + Handle.ALPHABET);
        assertThat(detail("music:tracks:a b"))
                .startsWith("\"music:tracks:a b\" is neither ")
                .contains("As a pURI, at position 14: ' ' is not allowed unescaped; write it as %20. As a handle: ");
        assertThat(detail("trk_4k7vx9tz2nqr8wl")).contains("this text has 1. As a handle, at position 18: ");
        assertThat(detail("")).startsWith("\"\" is neither ");
    }

    private String detail(String text) {
        return ((Verdict.Malformed) resolver.resolve(text)).detail();
    }

    @Test
    void aNullReferenceIsNamedByItsParameterAndIndex() {
        List<Ref> refs = new ArrayList<>(Ref.all(List.of("contract:tracks:1", "junk")));
        refs.add(null);
        assertThatThrownBy(() -> resolver.resolve((String) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageStartingWith("ref is null; it must be a pURI, namespace:collection:identifier, or a handle");
        for (Executable each : List.<Executable>of(
                () -> resolver.resolve((Ref) null), () -> resolver.resolveAsync(null, Duration.ZERO))) {
            assertThatThrownBy(each::execute)
                    .isInstanceOf(NullPointerException.class)
                    .hasMessageStartingWith("ref is null");
        }
        for (Executable each : List.<Executable>of(
                () -> resolver.resolveAll(refs), () -> resolver.resolveAllAsync(refs, Duration.ZERO))) {
            assertThatThrownBy(each::execute)
                    .isInstanceOf(NullPointerException.class)
                    .hasMessageStartingWith("refs[2] is null");
        }
        assertThatThrownBy(() -> resolver.resolveAll(null)).hasMessage("refs is null");
        assertThatThrownBy(() -> Ref.all(Arrays.asList("junk", null)))
                .isInstanceOf(NullPointerException.class)
                .hasMessageStartingWith("texts[1] is null");
    }

    @Test
    void manyReferencesAreAnsweredInTheirOrderWithTheirRepetitions() throws Exception {
        Random random = new Random(SEED);
        List<NewIdentity> known = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            NewIdentity identity = registry.mint();
            known.add(identity);
            settled(identity.puri(), registry.create(identity, "br-" + i));
        }
        List<Integer> drawn = random.ints(MANY, 0, 40).boxed().toList();
        List<Ref> refs = drawn.stream()
                .map(i -> i >= 30
                        ? Ref.of("contract:tracks:unknown-" + i)
                        : random.nextBoolean()
                                ? Ref.of(known.get(i).puri())
                                : Ref.of(Objects.requireNonNull(known.get(i).handle())))
                .toList();

        List<Verdict> verdicts = resolver.resolveAll(refs);

        assertThat(verdicts).hasSize(MANY);
        for (int i = 0; i < MANY; i++) {
            int number = drawn.get(i);
            if (number >= 30) {
                assertThat(verdicts.get(i))
                        .as("%s with -Dpuri.contract.seed=%s", i, SEED)
                        .isEqualTo(new Verdict.Unknown(refs.get(i)));
            } else {
                assertThat(Objects.requireNonNull(verdicts.get(i).placement()).shard())
                        .as("%s with -Dpuri.contract.seed=%s", i, SEED)
                        .isEqualTo(new Shard("br-" + number));
            }
        }
    }

    @Test
    void anEmptyListHasAnEmptyAnswer() {
        assertThat(resolver.resolveAll(List.of())).isEmpty();
    }

    @Test
    void tokensReadYourOwnWrites() throws Exception {
        NewIdentity track = registry.mint();
        Position created = registry.create(track, "br-1");
        Verdict byHandle =
                resolver.resolve(Ref.of(Objects.requireNonNull(track.handle())).at(created), WAIT);
        assertThat(byHandle).isEqualTo(found(track, "br-1", 1, byHandle));

        for (int i = 2; i < 10; i++) {
            Verdict moved = settled(track.puri(), registry.publish(EVENTS.moved(track.puri(), new Shard("br-" + i))));
            assertThat(moved).isEqualTo(found(track, "br-" + i, i, moved));
        }
        // An earlier token of the same name is satisfied too.
        assertThat(settled(track.puri(), created)).isInstanceOf(Verdict.Found.class);

        Position erased = registry.publish(EVENTS.erased(track.puri()));
        assertThat(settled(track.puri(), erased)).isInstanceOf(Verdict.Unknown.class);
    }

    @Test
    void aRefusedEventIsReportedWithItsReasonAndItsHolder() throws Exception {
        NewIdentity first = registry.mint();
        NewIdentity rival = new NewIdentity(first.puri(), registry.mint().uuid(), null);
        Position created = registry.create(first, "br-1");
        Position refused = registry.create(rival, "us-1");
        Ref ref = Ref.of(first.puri());

        List<Verdict> verdicts = resolver.resolveAll(
                List.of(ref.at(refused), ref, ref.at(created), Ref.of("no name").at(created)), WAIT);

        assertThat(verdicts.get(0)).isInstanceOfSatisfying(Verdict.Refused.class, refusal -> {
            assertThat(refusal.ref()).isEqualTo(ref.at(refused));
            assertThat(refusal.reason()).isEqualTo("PURI_TAKEN");
            assertThat(refusal.holderOwner()).isEqualTo(OWNER);
            assertThat(refusal.holderShard()).isEqualTo(new Shard("br-1"));
            assertThat(refusal.detail()).isNotBlank();
            assertThat(refusal.survivor()).isNull();
        });
        assertThat(verdicts.subList(1, 3))
                .allSatisfy(verdict -> assertThat(verdict).isEqualTo(found(first, "br-1", 1, verdict)));
        assertThat(verdicts.get(3)).isInstanceOf(Verdict.Malformed.class);
    }

    @Test
    void anEventThatDoesNotComeIsNotCaughtUpAndAnothersTokenIsMalformed() throws Exception {
        NewIdentity track = registry.mint();
        Position created = registry.create(track, "br-1");
        settled(track.puri(), created);
        Ref late = Ref.of(track.puri())
                .at(new Position(created.topic(), created.partition(), created.offset() + 1_000_000));
        Ref foreign = Ref.of(track.puri())
                .at(new Position(created.topic(), (created.partition() + 1) % PARTITIONS, 1_000_000));

        List<Verdict> verdicts =
                resolver.resolveAll(List.of(late, Ref.of(track.puri()), foreign), Duration.ofMillis(100));

        assertThat(verdicts.get(0)).isEqualTo(new Verdict.NotCaughtUp(late));
        assertThat(verdicts.get(1)).isInstanceOf(Verdict.Found.class);
        assertThat(verdicts.get(2))
                .isInstanceOfSatisfying(
                        Verdict.Malformed.class,
                        malformed -> assertThat(malformed.detail()).contains("cannot belong to"));
        assertThat(resolver.resolve(late, Duration.ZERO)).isEqualTo(new Verdict.NotCaughtUp(late));
    }

    @Test
    void acceptsAWaitOfAnyLength() throws Exception {
        NewIdentity track = registry.mint();
        Position created = registry.create(track, "br-1");
        Ref late = Ref.of(track.puri())
                .at(new Position(created.topic(), created.partition(), created.offset() + 1_000_000));
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);

        assertThat(resolver.resolve(Ref.of(track.puri()).at(created), longest)).isInstanceOf(Verdict.Found.class);
        assertThat(resolver.resolveAsync(late, longest).toCompletableFuture()).isNotDone();
        assertThat(resolver.resolveAllAsync(List.of(late), longest).toCompletableFuture())
                .isNotDone();
        assertThat(resolver.resolve(late, longest.negated())).isEqualTo(new Verdict.NotCaughtUp(late));
    }

    @Test
    void pendingReferencesAreBounded() throws Exception {
        NewIdentity track = registry.mint();
        Position created = registry.create(track, "br-1");
        Verdict found = settled(track.puri(), created);
        List<Ref> late = IntStream.range(0, 3)
                .mapToObj(i -> Ref.of(track.puri())
                        .at(new Position(created.topic(), created.partition(), created.offset() + 1_000_000 + i)))
                .toList();
        try (IdentityResolver bounded = open(2)) {
            assertThatThrownBy(() -> bounded.resolveAll(late, WAIT))
                    .isInstanceOfSatisfying(
                            ResolverException.class,
                            full -> assertThat(full.kind()).isEqualTo(Kind.FULL))
                    .hasMessageContaining("maxPending");

            assertThat(bounded.resolveAll(late.subList(0, 2), Duration.ofMillis(100)))
                    .containsExactly(new Verdict.NotCaughtUp(late.get(0)), new Verdict.NotCaughtUp(late.get(1)));
            assertThat(bounded.resolve(Ref.of(track.puri()))).isEqualTo(found);
        }
    }

    @Test
    void closingFailsPendingAndLaterLookUps() throws Exception {
        NewIdentity track = registry.mint();
        Position created = registry.create(track, "br-1");
        settled(track.puri(), created);
        Ref late = Ref.of(track.puri())
                .at(new Position(created.topic(), created.partition(), created.offset() + 1_000_000));
        List<CompletableFuture<?>> pending = Stream.of(
                        resolver.resolveAsync(late, WAIT), resolver.resolveAllAsync(List.of(late), WAIT))
                .<CompletableFuture<?>>map(stage -> stage.toCompletableFuture())
                .toList();
        assertThat(pending).noneMatch(CompletableFuture::isDone);

        resolver.close();

        for (CompletableFuture<?> each : pending) {
            assertThatThrownBy(() -> each.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            ResolverException.class,
                            closed -> assertThat(closed.kind()).isEqualTo(Kind.CLOSED));
        }
        assertThatThrownBy(() -> resolver.resolve(Ref.of(track.puri())))
                .isInstanceOfSatisfying(
                        ResolverException.class,
                        closed -> assertThat(closed.kind()).isEqualTo(Kind.CLOSED));
    }
}
