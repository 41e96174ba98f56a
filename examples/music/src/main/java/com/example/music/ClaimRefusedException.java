package com.example.music;

import dev.puri.client.PublishOutcome;
import dev.puri.schemas.identity.Puri;

/** The registry refused the name of a new object. */
class ClaimRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient PublishOutcome.Refused refused;

    ClaimRefusedException(Puri puri, PublishOutcome.Refused refused) {
        super(puri + " is refused: " + refused.reason());
        this.refused = refused;
    }

    PublishOutcome.Refused refused() {
        return refused;
    }
}
