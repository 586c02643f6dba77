"""The command line: its options, what it reads, what it does, and how it speaks."""
