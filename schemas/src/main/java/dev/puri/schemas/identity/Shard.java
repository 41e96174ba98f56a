package dev.puri.schemas.identity;

/**
 * The name of the shard whose database contains an object, e.g. {@code br-1}. Case-sensitive.
 *
 * @param text 1 to {@value OwnerOrShardName#MAX_LENGTH} characters of {@code A-Za-z0-9._~:/@+-}
 */
public record Shard(String text) implements Comparable<Shard> {
    /**
     * @throws InvalidNameException if the text is empty or too long, or contains another character
     */
    public Shard {
        OwnerOrShardName.require(text, NameRule.BAD_SHARD, "a shard");
    }

    /**
     * Parses a shard.
     *
     * @throws InvalidNameException if the text is not a shard
     */
    public static Shard parse(String text) {
        return new Shard(text);
    }

    @Override
    public int compareTo(Shard other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
