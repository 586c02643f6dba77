"""Learning curves: error as a power law of the training size, loss as a law of model size and tokens."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.learning_curves.compare_learners import (
        compare_learners as compare_learners,
    )
    from xcurves.learning_curves.compare_scaling_laws import (
        compare_scaling_laws as compare_scaling_laws,
    )
    from xcurves.learning_curves.fit_power_law import fit_power_law as fit_power_law
    from xcurves.learning_curves.fit_scaling_law import (
        fit_scaling_law as fit_scaling_law,
    )
    from xcurves.learning_curves.leave_one_size_out import (
        leave_one_size_out as leave_one_size_out,
    )
    from xcurves.learning_curves.optimal_allocation import (
        optimal_allocation as optimal_allocation,
    )
    from xcurves.learning_curves.predict import predict as predict
    from xcurves.learning_curves.predict_loss import predict_loss as predict_loss
