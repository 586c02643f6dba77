"""Experiments that make real performance curves.

`tictactoe`: TD(0) learning a game, on `boards` with opponents; `endgames`: decision trees on two tables, computed
here; `digits`: classifiers of handwritten digits; `benchmark`: classifiers on sixteen tasks; `learning`: learning
curves of any classifier. `dse`: distributions
of performance, of `classifiers` on their `tasks`. `pendulum`: `actor_critic` and `ppo`
learning a `swingup`. `command` is the command line, `checks` what they ask of their arguments.
"""
