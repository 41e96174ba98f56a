/**
 * What a resolver reads beside its table: refusals and declared collections, each followed by a plain
 * consumer.
 *
 * <pre>
 * puri.rejections.v1  ──TopicTail──▶ RefusalLog ──▶ RejectionsView, and who waits for a refusal
 * puri.collections.v1 ──TopicTail──▶ Catalogue  ──▶ CollectionsView, and whether a pURI may be named
 * </pre>
 */
@NullMarked
package dev.puri.resolver.tail;

import org.jspecify.annotations.NullMarked;
