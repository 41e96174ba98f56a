package dev.puri.schemas.identity;

/**
 * The name of the service that is responsible for an object, e.g. {@code catalog}. Case-sensitive.
 *
 * @param text 1 to {@value OwnerOrShardName#MAX_LENGTH} characters of {@code A-Za-z0-9._~:/@+-}
 */
public record Owner(String text) implements Comparable<Owner> {
    /**
     * @throws InvalidNameException if the text is empty or too long, or contains another character
     */
    public Owner {
        OwnerOrShardName.require(text, NameRule.BAD_OWNER, "an owner");
    }

    /**
     * Parses an owner.
     *
     * @throws InvalidNameException if the text is not an owner
     */
    public static Owner parse(String text) {
        return new Owner(text);
    }

    @Override
    public int compareTo(Owner other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
