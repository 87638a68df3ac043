"""A body of faults of several contracts: a child has higher limits than its caller."""

import resource


def raise_to_the_hard_limit(which):
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (hard, hard))
