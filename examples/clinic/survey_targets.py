"""The claims of the clinic, for its tests and its continuous integration."""

import survey

from dpaudit import Target

# Made-up visits. A claim is about any visit, so some of them are longer than what counts.
MINUTES = [12, 45, 0, 90, 31, 240, 18, 7]

TARGETS = [
    Target(sample=survey.visits_published, claim=survey.COUNT.claim, data=MINUTES, public_data=True),
    Target(sample=survey.minutes_published, claim=survey.TOTAL.claim, data=MINUTES, public_data=True),
]
