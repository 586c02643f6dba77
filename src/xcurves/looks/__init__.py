"""Methods that look again as runs come in: sequential tests and gates."""
