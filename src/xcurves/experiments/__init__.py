"""Experiments that make real performance curves.

`tictactoe`: TD(0) learning a game, on `boards` against `opponents`; `endgames`: decision trees on two tables computed
anew; `digits`: classifiers of handwritten digits; `learning`: learning curves of any classifier. `command` is the
command line of all, `checks` what they ask of their arguments.
"""
