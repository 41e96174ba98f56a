package dev.puri.http;

/** Thrown to refuse a request with a problem. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    /** Refuses a request with the given problem. */
    public RefusedException(Problem problem) {
        super(problem.detail());
        this.problem = problem;
    }

    /**
     * Refuses a request with a problem of the given type.
     *
     * @param detail the problem's detail, a sentence
     */
    public RefusedException(ProblemType type, String detail) {
        this(Problem.of(type, detail));
    }

    /** Returns the problem to respond with. */
    public Problem problem() {
        return problem;
    }
}
