"""What diffprivlib's logistic regression reaches, run under an interpreter that has diffprivlib: arrays in, JSON out.

    PYTHON benchmarks/learners_peer.py ARRAYS.npz "[0.1, 1]" "[1, 0.01]" SEED

A fit for each constant C and each epsilon of the lists: accuracy on the test part, average precision where there are two classes,
and seconds. Its guarantee is pure epsilon under
replace-one.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np


def main() -> int:
    """Fit once for each constant and epsilon, and print what was reached."""
    from diffprivlib.models import LogisticRegression
    from sklearn.metrics import average_precision_score

    warnings.simplefilter("ignore")
    arrays = np.load(sys.argv[1])
    reached = []
    for epsilon in json.loads(sys.argv[2]):
        for constant in json.loads(sys.argv[3]):
            model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=constant, max_iter=200, random_state=int(sys.argv[4]))
            start = time.process_time()
            model.fit(arrays["train_x"], arrays["train_y"])
            seconds = time.process_time() - start
            accuracy = float(np.mean(model.predict(arrays["test_x"]) == arrays["test_y"]))
            reached.append({"epsilon": epsilon, "C": constant, "accuracy": accuracy, "seconds": seconds})
            if len(model.classes_) == 2:
                scores = model.predict_proba(arrays["test_x"])[:, 1]
                reached[-1]["precision"] = float(average_precision_score(arrays["test_y"], scores))
    print(json.dumps(reached))
    return 0


if __name__ == "__main__":
    sys.exit(main())
