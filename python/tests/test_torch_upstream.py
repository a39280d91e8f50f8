# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its operators: results and gradients within PyTorch's tolerances, and what differs."""

import pathlib
import unittest
import warnings
from collections import Counter

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


def call(function, sample):
    return function(sample.input, *sample.args, **sample.kwargs)


def gradients(function, sample):
    """The gradients of the results, whose elements have different weights."""
    results = call(function, sample)
    results = [x for x in (results if isinstance(results, tuple) else (results,)) if x.requires_grad]
    weights = [(torch.arange(x.numel(), device=x.device).reshape(x.shape) % 3 + 1).to(x.dtype) for x in results]
    return torch.autograd.grad(results, leaves(sample), weights, materialize_grads=True)


def leaves(sample):
    return [x for x in (sample.input, *sample.args, *sample.kwargs.values())
            if isinstance(x, torch.Tensor) and x.requires_grad]


def in_doubles(sample):
    return sample.transform(lambda x: x.detach().double().requires_grad_(x.requires_grad)
                            if isinstance(x, torch.Tensor) and x.is_floating_point() else x)


def are_as_near(found, expected, exact):
    """Whether results are as near to exact ones as PyTorch's, which may round each step of a gradient to 16 bits."""
    return all((one - best).abs().max() <= (other - best).abs().max() + torch.finfo(one.dtype).eps * best.abs().max()
               for one, other, best in zip(found, expected, exact))


def outcome(of, name, operator, sample, expected):
    """None where fanin has what is expected; else what is wrong. `of` is call() or gradients()."""
    try:
        found = of(getattr(fanin.torch, name), sample)
        torch.testing.assert_close(found, expected, equal_nan=True)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        if of is gradients and isinstance(error, AssertionError) and sample.input.dtype in FLOATS[:2] \
                and are_as_near(found, expected, gradients(operator, in_doubles(sample))):
            return None
        return error
    return None


def samples_of(operator, device):
    """PyTorch's samples of an operator, each with what is compared."""
    for dtype in operator.supported_dtypes(device):
        for sample in operator.sample_inputs(device, dtype, requires_grad=False):
            yield call, sample
    for dtype in operator.supported_backward_dtypes(device) if operator.supports_autograd else ():
        for sample in operator.sample_inputs(device, dtype, requires_grad=True):
            yield gradients, sample


class Samples(unittest.TestCase):
    def test_all(self):
        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            with self.subTest(device=device), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.check(device)

    def check(self, device):
        names, seen, found, counts = set(samples()), set(), set(), Counter()
        for operator in op_db:
            name = operator.name.replace("linalg.", "").replace("_segment", "segment")
            if name not in names or operator.variant_test_name == "unbiased":
                continue
            seen.add(name)
            for of, sample in samples_of(operator, device):
                try:
                    expected = of(operator.op, sample)
                except (RuntimeError, TypeError, IndexError):  # PyTorch has no result or no gradient.
                    continue
                wrong, reasons = outcome(of, name, operator.op, sample, expected), reasons_for(name, sample)
                counts[of] += 1
                if wrong is not None:
                    found.update(reasons)
                    self.assertTrue(reasons, "%s of %s, %s of %s %s: %s" % (
                        of.__name__, name, sample.input.dtype, sample.args, sample.kwargs, wrong))
        self.assertEqual((seen, found), (names, set(DIFFERENT)))
        self.assertGreater(counts[call], 4000)
        self.assertGreater(counts[gradients], 3000)

    @unittest.skipUnless(DOCUMENT.exists(), "docs/torch.md is not here")
    def test_document(self):
        lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
        for reason in DIFFERENT:
            self.assertTrue(any(line.startswith("| " + reason) for line in lines), reason)


if __name__ == "__main__":
    unittest.main()
