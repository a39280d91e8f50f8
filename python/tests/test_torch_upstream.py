# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its operators, which fanin.torch computes within PyTorch's tolerances; and what differs."""

import pathlib
import unittest
import warnings

try:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    import fanin.torch
    from torch_samples import samples
except ImportError as error:  # PyTorch's tests need expecttest.
    torch, MISSING = None, str(error)

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "torch.md"
FLOATS = () if torch is None else (torch.float16, torch.bfloat16, torch.float32, torch.float64)

# What differs: the reason, which begins a line of the table in docs/torch.md, and the samples of which it is one.
DIFFERENT = {
    "`vecdot`, `segment_reduce` of f16, bf16": lambda name, x, named:
        name in ("vecdot", "segment_reduce") and x.dtype in FLOATS[:2],
    "`dot`, `logsumexp` of integers": lambda name, x, named:
        name in ("dot", "logsumexp") and x.dtype not in FLOATS and not x.is_complex(),
    "complex numbers": lambda name, x, named: x.is_complex() and (
        name in ("var", "std", "var_mean", "std_mean", "any", "all", "count_nonzero", "logsumexp")
        or x.dtype == torch.complex32 or name == "vector_norm" and named.get("ord", 2) != 2),
    "`vector_norm` of another order": lambda name, x, named:
        name == "vector_norm" and named.get("ord", 2) not in (1, 2, float("inf")),
    "`unbiased=`": lambda name, x, named: "unbiased" in named,
    "`segment_reduce` with `initial` and `mean`": lambda name, x, named:
        name == "segment_reduce" and named.get("initial") is not None and named.get("reduce") == "mean",
    "`scatter_reduce` with `mean` of integers": lambda name, x, named:
        name == "scatter_reduce" and named.get("reduce") == "mean" and x.dtype not in FLOATS,
}


def setUpModule():
    if torch is None:
        raise unittest.SkipTest(MISSING)


def reasons_for(name, sample):
    named = dict(sample.kwargs)
    if name in ("segment_reduce", "scatter_reduce"):
        named["reduce"] = next((x for x in sample.args if isinstance(x, str)), named.get("reduce"))
    return [reason for reason, is_one in DIFFERENT.items() if is_one(name, sample.input, named)]


def outcome(name, operator, sample):
    """None where fanin has the result of PyTorch, or PyTorch has none; else what is wrong."""
    try:
        expected = operator(sample.input, *sample.args, **sample.kwargs)
    except (RuntimeError, TypeError, IndexError):
        return None
    try:
        found = getattr(fanin.torch, name)(sample.input, *sample.args, **sample.kwargs)
        torch.testing.assert_close(found, expected, equal_nan=True)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        return error
    return None


class Samples(unittest.TestCase):
    def test_all(self):
        device = "cuda" if torch.cuda.is_available() else "cpu"
        names, seen, found, count = set(samples()), set(), set(), 0
        for operator in op_db:
            name = operator.name.replace("linalg.", "").replace("_segment", "segment")
            if name not in names or operator.variant_test_name == "unbiased":
                continue
            seen.add(name)
            for dtype in operator.supported_dtypes(device):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for sample in operator.sample_inputs(device, dtype, requires_grad=False):
                        wrong, reasons = outcome(name, operator.op, sample), reasons_for(name, sample)
                        count += 1
                        if wrong is not None:
                            found.update(reasons)
                            self.assertTrue(reasons, "%s of %s, %s %s: %s" % (name, dtype, sample.args,
                                                                              sample.kwargs, wrong))
        self.assertEqual((seen, found), (names, set(DIFFERENT)))
        self.assertGreater(count, 4000)

    @unittest.skipUnless(DOCUMENT.exists(), "docs/torch.md is not here")
    def test_document(self):
        lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
        for reason in DIFFERENT:
            self.assertTrue(any(line.startswith("| " + reason) for line in lines), reason)


if __name__ == "__main__":
    unittest.main()
