#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch's own test_reductions.py, which PyTorch's source tree has, in the exact mode.

usage: torch_reductions.py test_reductions.py [SHARD OF]    with two numbers every OF-th test, for several processes

A test that fails is run by PyTorch alone, too. Prints the tests that fail in the exact mode only, with their errors.
Exits with 1 if there are any but those of DIFFERENT, or if no test passes.
"""

import contextlib
import importlib.util
import sys
import unittest
import warnings

import fanin.torch

# What differs on purpose, and why.
DIFFERENT = {"test_repeated_dim": "the error has other words"}


def cases(module):
    """The names of the classes of tests for the devices of this machine, with the names of their tests."""
    loader = unittest.TestLoader()
    return [(name, test) for name, kind in sorted(vars(module).items())
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase) and name.startswith("TestReductions")
            for test in loader.getTestCaseNames(kind)]


def outcome(module, name, test, mode):
    result = unittest.TestResult()
    with mode():
        getattr(module, name)(test).run(result)
    return result


def main(path, shard=0, shards=1):
    spec = importlib.util.spec_from_file_location("test_reductions", path)
    module = sys.modules["test_reductions"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    warnings.simplefilter("ignore")
    tests, skipped, both, different, worse = cases(module)[int(shard)::int(shards)], 0, 0, 0, 0
    for name, test in tests:
        exact = outcome(module, name, test, fanin.torch.exact)
        skipped += bool(exact.skipped)
        if exact.wasSuccessful():
            continue
        if not outcome(module, name, test, contextlib.nullcontext).wasSuccessful():
            both += 1
        elif test.rpartition("_")[0] in DIFFERENT:
            different += 1
        else:
            worse += 1
            texts = [text for _, text in exact.failures + exact.errors] or ["it was expected to fail"]
            print("%s.%s: %s" % (name, test, texts[0]))
    print("%d tests: %d are skipped, %d fail by PyTorch alone too, %d differ on purpose, %d fail in the exact mode only"
          % (len(tests), skipped, both, different, worse))
    return worse > 0 or skipped + both + different == len(tests)


if __name__ == "__main__":
    arguments, sys.argv[1:] = sys.argv[1:], []  # PyTorch's tests read sys.argv
    sys.exit(main(*arguments))
