package dev.puri.http;

/** A request that is not answered as it was asked, and the problem that says why. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    /** Refuses with a problem of any members. */
    public RefusedException(Problem problem) {
        super(problem.detail());
        this.problem = problem;
    }

    /**
     * Refuses with a problem.
     *
     * @param detail a sentence
     */
    public RefusedException(ProblemType type, String detail) {
        this(Problem.of(type, detail));
    }

    /** What is answered. */
    public Problem problem() {
        return problem;
    }
}
