import logging
import math

from .trial import Trial

log = logging.getLogger(__name__)


def successive_halving(candidates, eta=2, epochs_per_rung=1):
    candidates = list(candidates)
    rungs = int(math.log(len(candidates), eta)) + 1
    max_epochs = epochs_per_rung * (2 ** rungs - 1)
    alive = [Trial(s, max_epochs) for s in candidates]
    for rung in range(rungs):
        budget = epochs_per_rung * 2 ** rung
        for trial in alive:
            score = trial.run(budget)
            log.info("rung %d %s val %.4f sparsity %.2f", rung, trial.settings.describe(), score,
                     trial.pruner.sparsity())
        alive.sort(key=lambda t: t.scores[-1])
        keep = max(1, len(alive) // eta)
        for loser in alive[keep:]:
            loser.release()
        alive = alive[:keep]
    best = alive[0]
    return best.settings, best.scores, best.release()
