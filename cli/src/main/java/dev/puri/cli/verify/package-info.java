/**
 * {@code puri verify}: compares the copies of the identities with the registrar's state, and finds every difference.
 *
 * <pre>
 * events topics ─▶ EventComparison ─▶ changelogs of the registrar
 *                                            │ LogComparison
 *                                            ▼
 *                     puri.identities.v1, puri.documents.v1 ─▶ CopyComparison ─▶ exports of resolvers, snapshots
 * </pre>
 *
 * A {@link dev.puri.cli.verify.CheckRunner} runs the comparisons one after the other, and stores the completed ones in
 * a folder.
 */
@NullMarked
package dev.puri.cli.verify;

import org.jspecify.annotations.NullMarked;
