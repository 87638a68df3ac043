"""Fuzzing of the contract policy: first inputs, and vectors from findings."""

from boxspec.subject.contract import Fuzzing
from contracts.policy import vectors
from contracts.policy.fuzzing.expected import vectors_of
from contracts.policy.fuzzing.seeds import MAKERS

FUZZING = Fuzzing(seeds=MAKERS, vectors_of=vectors_of, ids=vectors.every)
