/**
 * What a server follows beside the topic that it is made of, each with a plain consumer: refusals and
 * declared collections.
 *
 * <pre>
 * puri.rejections.v1  ──TopicTail──▶ RefusalLog ──▶ RejectionsView, and who waits for a refusal
 * puri.collections.v1 ──TopicTail──▶ Catalogue  ──▶ CollectionsView, and whether a pURI may be named
 * </pre>
 */
@NullMarked
package dev.puri.tail;

import org.jspecify.annotations.NullMarked;
