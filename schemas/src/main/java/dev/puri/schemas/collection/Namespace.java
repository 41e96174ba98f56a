package dev.puri.schemas.collection;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;

/**
 * The declaration of a namespace.
 *
 * @param name the first segment of the namespace's pURIs, in upper or lower case; converted to canonical form
 * @param ownsTopic whether the namespace has its own events topic; then its events are refused on other topics. This
 *     can never be undone, because services rely on the access control list of the topic
 * @param mode which events may change identities of the namespace; a collection may have a mode of its own, and an
 *     event must be accepted by both
 */
public record Namespace(String name, boolean ownsTopic, WriteMode mode) implements Declaration {
    /**
     * Checks the components and converts the name to canonical form.
     *
     * @throws InvalidNameException if the name is not a valid segment
     * @throws IllegalArgumentException if the namespace owns a topic and contains a character that topic names must not
     *     contain
     */
    public Namespace {
        name = Puri.parse(name + ":x:x").namespace();
        if (ownsTopic && !Topics.mayOwnTopic(name)) {
            throw new IllegalArgumentException(
                    "the namespace " + name
                            + " cannot own a topic: names of topics are made of a-z 0-9 . _ - and this name has other characters");
        }
    }

    /**
     * Creates a declaration with mode {@code READ_WRITE}.
     *
     * @throws InvalidNameException if the name is not a valid segment
     * @throws IllegalArgumentException if the namespace owns a topic and contains a character that topic names must not
     *     contain
     */
    public Namespace(String name, boolean ownsTopic) {
        this(name, ownsTopic, WriteMode.READ_WRITE);
    }

    /** The topic to which events of the namespace must be published. */
    public String eventsTopic() {
        return Topics.eventsTopicOf(name, ownsTopic);
    }

    @Override
    public String key() {
        return name;
    }
}
