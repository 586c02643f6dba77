"""Performance distributions: how scores spread over trials, and pairs of algorithms compared by it."""
