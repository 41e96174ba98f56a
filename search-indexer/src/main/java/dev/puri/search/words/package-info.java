/**
 * Text analysis, query parsing and scoring, the same for every engine.
 *
 * <pre>
 * document text ──TextAnalysis──▶ words ──IndexedText──▶ what an engine indexes
 * typed text ──ParsedQuery──▶ clauses ──▶ an engine's query, scored by ScoreModel
 *                                └──Highlighter──▶ marked fragments of a hit's attributes
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.words;
