/**
 * What a word is, in what is searched and in what somebody types, whatever engine keeps the index.
 *
 * <pre>
 * text ──TextAnalysis──▶ words, each with its place in the text
 * what is typed ──ParsedQuery──▶ clauses ──▶ an engine's query
 *                              └──Highlighter──▶ pieces of a hit's text
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.words;
