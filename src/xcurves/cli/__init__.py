"""The command line: its options, inputs, jobs and messages."""
