"""Why learning curves are not fitted, and the cures."""

(
    FITTED,
    NO_ERRORS,
    FEW_SIZES,
    ONE_FOLD,
    NO_SPREAD,
    BAD_STANDARD_ERROR,
    ZERO_ERROR,
    RISING,
    BEYOND,
) = range(9)
REASONS = {
    NO_ERRORS: "no errors",
    FEW_SIZES: "too few sizes",
    ONE_FOLD: "one fold at every size",
    NO_SPREAD: "no spread between folds",
    BAD_STANDARD_ERROR: "standard error not positive",
    ZERO_ERROR: "error not positive",
    RISING: "rising errors",
    BEYOND: "at is beyond the largest size",
}
CURES = {
    NO_ERRORS: "Check the selection",
    FEW_SIZES: "A law needs 2, one more each for a searched gamma, relative weights and quadratic=True: add some",
    ONE_FOLD: "Weights by variance need folds: give sigma_hat_sq, or fit with weighting='relative' or 'uniform'",
    NO_SPREAD: "Weights by variance are infinite: give a positive sigma0_sq, or fit with weighting='relative'",
    BAD_STANDARD_ERROR: "Mask errors where it is not, or leave standard_error out",
    ZERO_ERROR: "Relative weights need errors above 0: mask it, or fit with asymptote='free', weighting='uniform'",
    RISING: "If this is accuracy, turn it: 100 - accuracy, or 1 - accuracy",
    BEYOND: "Fit with at='largest' and call predict(fit, n), which widens its intervals",
}
