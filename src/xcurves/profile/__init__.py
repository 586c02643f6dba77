"""Where along training curves differ: their profile level by level, in memory or in chunks of levels."""
