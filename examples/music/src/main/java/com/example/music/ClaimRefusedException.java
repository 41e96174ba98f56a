package com.example.music;

import dev.puri.client.Fate;
import dev.puri.schemas.identity.Puri;

/** The registry refused a name. */
class ClaimRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Fate.Refused refused;

    ClaimRefusedException(Puri puri, Fate.Refused refused) {
        super(puri + " is refused: " + refused.reason());
        this.refused = refused;
    }

    Fate.Refused refused() {
        return refused;
    }
}
