/**
 * Follows the topics of refusals and of declared collections. Also has classes that all servers use to follow topics:
 * end offsets, retries, supervised threads, and the wait for the schema registry.
 *
 * <pre>
 * puri.rejections.v1  ──TopicFollower──▶ RefusalLog          ──▶ RejectionsQuery; ReadYourWrites waits for refusals
 * puri.collections.v1 ──TopicFollower──▶ DeclaredCollections ──▶ CollectionsView; decides which pURIs are public
 * </pre>
 */
@NullMarked
package dev.puri.projection;

import org.jspecify.annotations.NullMarked;
