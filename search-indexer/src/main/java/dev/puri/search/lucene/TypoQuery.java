package dev.puri.search.lucene;

import dev.puri.search.words.TypoPatterns;
import java.io.IOException;
import java.util.Objects;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.util.Accountable;
import org.apache.lucene.util.AttributeSource;
import org.apache.lucene.util.automaton.Automaton;
import org.apache.lucene.util.automaton.CompiledAutomaton;
import org.apache.lucene.util.automaton.Transition;
import org.jspecify.annotations.Nullable;

/**
 * Matches documents that have a term one edit away from a text with the same digits; see {@link TypoPatterns}. Lucene's
 * {@code AutomatonQuery} matches the same documents, but its constructor takes 0.3 to 0.6 ms: it searches for a common
 * suffix of all terms, and converts the automaton from characters to bytes and makes it deterministic again. This class
 * does not search for the suffix, and converts the automaton in a cheaper way if the text is ASCII.
 */
final class TypoQuery extends MultiTermQuery implements Accountable {
    private static final int LAST_ASCII = 0x7F;

    private final String text;
    private final CompiledAutomaton automaton;

    TypoQuery(Term term) {
        super(term.field(), CONSTANT_SCORE_BLENDED_REWRITE);
        text = term.text();
        Automaton characters = TypoPatterns.automaton(text);
        Automaton bytes = toUtf8(characters);
        automaton = bytes == null
                ? new CompiledAutomaton(characters, true, false, false)
                : new CompiledAutomaton(bytes, true, false, true);
    }

    /**
     * Converts an automaton over characters to an automaton over UTF-8 bytes. Returns null if the automaton
     * distinguishes characters beyond ASCII. Otherwise the first byte of such a character leads to a state that counts
     * the remaining bytes. The result of a deterministic automaton is deterministic.
     */
    static @Nullable Automaton toUtf8(Automaton characters) {
        int stateCount = characters.getNumStates();
        Automaton.Builder bytes = new Automaton.Builder(4 * stateCount, 4 * characters.getNumTransitions());
        for (int state = 0; state < stateCount; state++) {
            bytes.setAccept(bytes.createState(), characters.isAccept(state));
        }
        // By target state: the state from which one continuation byte leads to the target; 0 if there is none yet.
        int[] oneByteLeft = new int[stateCount];
        Transition transition = new Transition();
        for (int state = 0; state < stateCount; state++) {
            int transitionCount = characters.initTransition(state, transition);
            for (int i = 0; i < transitionCount; i++) {
                characters.getNextTransition(transition);
                if (transition.min <= LAST_ASCII) {
                    bytes.addTransition(state, transition.dest, transition.min, Math.min(LAST_ASCII, transition.max));
                }
                if (transition.max <= LAST_ASCII) {
                    continue;
                }
                if (transition.min > LAST_ASCII + 1 || transition.max != Character.MAX_CODE_POINT) {
                    return null;
                }
                if (oneByteLeft[transition.dest] == 0) {
                    oneByteLeft[transition.dest] = addContinuationStates(bytes, transition.dest);
                }
                int oneLeft = oneByteLeft[transition.dest];
                bytes.addTransition(state, oneLeft, 0xC2, 0xDF);
                bytes.addTransition(state, oneLeft + 1, 0xE0, 0xEF);
                bytes.addTransition(state, oneLeft + 2, 0xF0, 0xF4);
            }
        }
        return bytes.finish();
    }

    /**
     * Adds three states with consecutive numbers, from which one, two and three continuation bytes lead to the target.
     * Returns the first of these states.
     */
    private static int addContinuationStates(Automaton.Builder bytes, int target) {
        int oneLeft = bytes.createState();
        int twoLeft = bytes.createState();
        int threeLeft = bytes.createState();
        bytes.addTransition(oneLeft, target, 0x80, 0xBF);
        bytes.addTransition(twoLeft, oneLeft, 0x80, 0xBF);
        bytes.addTransition(threeLeft, twoLeft, 0x80, 0xBF);
        return oneLeft;
    }

    @Override
    protected TermsEnum getTermsEnum(Terms terms, AttributeSource attributes) throws IOException {
        return automaton.getTermsEnum(terms);
    }

    /** Returns the size of this query in memory, by which Lucene bounds its query cache. */
    @Override
    public long ramBytesUsed() {
        return automaton.ramBytesUsed();
    }

    @Override
    public void visit(QueryVisitor visitor) {
        if (visitor.acceptField(field)) {
            automaton.visit(visitor, this, field);
        }
    }

    @Override
    public String toString(String defaultField) {
        return field + ":" + text + "~typo";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return super.equals(other) && other instanceof TypoQuery that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), text);
    }
}
