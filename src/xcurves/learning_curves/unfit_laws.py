"""Why scaling laws are not fitted."""

FEWEST = 10  # runs
DISTINCT = 3  # sizes and amounts of tokens, as in the kernel
FITTED, NO_LOSSES, FEW_RUNS, FEW_SIZES, TOGETHER, EQUAL, NOT_POSITIVE = range(7)
LAW_REASONS = {
    NO_LOSSES: "no losses",
    FEW_RUNS: f"fewer than {FEWEST} runs",
    FEW_SIZES: f"fewer than {DISTINCT} model sizes or amounts of tokens",
    TOGETHER: "model size and tokens move together; fit_power_law on compute",
    EQUAL: "losses do not vary",
    NOT_POSITIVE: "a loss is not positive",
}
