"""Gives Patroni the clock of its node, which Python itself reads: under libfaketime its sleeps fail [observed, 0.9.10]."""

import os
import time

right_time = time.time


def time_of_node():
    with open(os.environ["NODE_CLOCK"]) as clock:
        return right_time() + int(clock.read())


time.time = time_of_node
