"""The mean curves of algorithms."""
