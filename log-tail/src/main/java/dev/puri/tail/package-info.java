/**
 * Follows topics beside the one that a server is made of, and holds what all servers share of following: end offsets,
 * retries, supervised threads, and the wait for the schema registry.
 *
 * <pre>
 * puri.rejections.v1  ──TopicFollower──▶ RefusalLog          ──▶ RejectionsView, and waits for refusals
 * puri.collections.v1 ──TopicFollower──▶ DeclaredCollections ──▶ CollectionsView, and which pURIs are public
 * </pre>
 */
@NullMarked
package dev.puri.tail;

import org.jspecify.annotations.NullMarked;
