"""Where along training algorithms differ."""
