"""What randomization tests share: sufficient statistics, plans of reassignments, sums over groups, adjusted p."""
