/**
 * Text analysis, query parsing, ranking and highlighting, the same for every engine.
 *
 * <pre>
 * document's attributes ──TextAnalysis──▶ words ──IndexedText──▶ terms of the index
 *
 * typed text ──ParsedQuery──▶ clauses ──RankedQueries, ScoreModel──▶ query of an engine (its QueryBuilder)
 *                                └──────Highlighter──▶ fragments of a hit's attributes with marked matches
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.words;
