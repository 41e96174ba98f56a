package dev.puri.projection;

import dev.puri.schemas.log.PartitionDigest;

/**
 * The digest of the rows of a partition that are in the records before an offset.
 *
 * @param offset the offset of the record that published the digest
 */
public record DigestAtOffset(long offset, PartitionDigest digest) {}
