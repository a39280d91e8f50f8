# SPDX-License-Identifier: Apache-2.0
"""report() of the exact mode names every operator that adds in an order of PyTorch's own, in PyTorch's own samples."""

import re
import unittest
import warnings

try:
    import torch
    from torch.nn import functional
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.utils._python_dispatch import TorchDispatchMode

    import fanin.torch
    from fanin.torch._exact import adds
    from fanin.torch._replacements import REPLACEMENTS
except ImportError as error:  # PyTorch's tests need expecttest.
    torch, MISSING = None, str(error)

SAMPLES = 4  # of each operator
# Operators that do not add, beside views and those that have PyTorch's tag for elementwise operators.
NEVER_ADD = re.compile(
    r"_*((conj|prelu_kernel|to_copy|unique2?|unsafe_view|unsafe_masked_index|chunk_cat|efficientzerotensor|to_sparse|"
    r"linalg_check_errors|local_scalar_dense|allclose|block_diag|bucketize|cat|channel_shuffle|complex|constant_pad_nd|"
    r"copy|diag_embed|embedding|expand|fill|flip|floor_divide|gather|hardswish|index|index_copy|index_fill|isin|"
    r"index_select|kthvalue|lift_fresh|log_sigmoid_forward|lu_unpack|masked_(fill|scatter|select)|median|mode|nanmedian|"
    r"nonzero(_static)?|pixel_(un)?shuffle|polar|repeat(_interleave)?|resize|resize_as|roll|rot90|rrelu_with_noise|rsub|"
    r"scalar_tensor|scatter|searchsorted|slice|sort|sparse_mask|squeeze|stack|take|topk|transpose|tril|triu|zero|"
    r"unique_consecutive|unsafe_split|conj_physical|leaky_relu|"
    r"(alias|as_strided|diagonal|expand|narrow|permute|select|split_with_sizes|squeeze|t|transpose|unbind|unfold|"
    r"unsqueeze|view)_copy|(as_strided|diagonal|select|slice)_scatter|glu|hash_tensor|"
    r"amax|amin|aminmax|all|any|arg(max|min)|count_nonzero|cum(max|min)|max|min|"
    r"(adaptive_|fractional_)?max_pool[23]d(_with_indices)?|max_unpool[23]d|(reflection|replication)_pad[123]d|"
    r"(new_)?(empty|full|ones|zeros|empty_permuted|empty_strided|eye|arange|linspace|logspace)(_like)?|"
    r"rand(n|int)?(_like)?|bernoulli|cauchy|exponential|geometric|log_normal|uniform|normal)_?|"
    r"(select|slice|diagonal|masked_scatter|elu|glu|hardshrink|hardsigmoid|hardswish|hardtanh|leaky_relu|log_sigmoid|"
    r"mish|prelu_kernel|rrelu_with_noise|softplus|softshrink|nll_loss|nll_loss2d|mse_loss|smooth_l1_loss|huber_loss|"
    r"soft_margin_loss|binary_cross_entropy)_backward)")


def setUpModule():
    if torch is None:
        raise unittest.SkipTest(MISSING)


def is_known(operator):
    """Whether a call of the operator is replaced or counted, or need not be."""
    returned = operator._schema.returns
    is_view = bool(returned) and returned[0].alias_info is not None and not returned[0].alias_info.is_write
    return operator in REPLACEMENTS or adds(operator) or is_view or torch.Tag.pointwise in operator.tags \
        or NEVER_ADD.fullmatch(operator._schema.name.partition("::")[2]) is not None


class Calls(object if torch is None else TorchDispatchMode):
    """Keeps the operators that are called."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if isinstance(operator, torch._ops.OpOverload):
            self.seen.add(operator)
        return operator(*args, **(kwargs or {}))


def call_with_gradient(operator, sample):
    found = operator(sample.input, *sample.args, **sample.kwargs)
    for x in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(x, torch.Tensor) and x.requires_grad and not x.is_complex():
            x.sum().backward()
            return


class Left(unittest.TestCase):
    def test_operators_of_samples(self):
        calls = Calls()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for operator in op_db:
                if torch.float32 not in operator.supported_dtypes("cpu"):
                    continue
                samples = operator.sample_inputs("cpu", torch.float32, requires_grad=operator.supports_autograd)
                for sample, _ in zip(samples, range(SAMPLES)):
                    with calls:
                        try:
                            call_with_gradient(operator.op, sample)
                        except Exception:
                            pass  # Some samples have no gradient, or need another device.
        self.assertGreater(len(calls.seen), 400)
        self.assertEqual(sorted(str(operator) for operator in calls.seen if not is_known(operator)), [])

    def test_calls(self):
        """Calls of operators that are replaced at other times, of some that have no tag, and of integers as floats."""
        x, keys = torch.randn(5, 6), torch.tensor([1, 1, 2])
        calls = {
            "index_put_": lambda: torch.zeros(5, 6).index_put_((keys, keys), torch.ones(3), accumulate=True),
            "index_put": lambda: torch.zeros(5, 6).index_put((keys, keys), torch.ones(3), True),
            "scatter": lambda: x.scatter(0, torch.zeros(5, 6, dtype=torch.int64), x, reduce="add"),
            "sum": lambda: torch.sum(x, 0, out=torch.empty(6)),
            "mean": lambda: torch.mean(keys, 0, dtype=torch.float32, out=torch.empty(())),
            "logsumexp": lambda: keys.logsumexp(0), "prod": lambda: keys.prod(dtype=torch.float32),
            "cumsum": lambda: keys.cumsum(0, dtype=torch.float32), "bincount": lambda: keys.bincount(x[0, :3]),
            "trace": lambda: x.trace(), "renorm": lambda: x.renorm(2, 0, 1.0),
            "soft_margin_loss": lambda: functional.soft_margin_loss(x, x.sign()),
            "_addmm_activation": lambda: torch._addmm_activation(torch.ones(6), x[:, :5], x)}
        for name, call in calls.items():
            with self.subTest(name), fanin.torch.exact():
                call()
            self.assertEqual(fanin.torch.report().left, {"aten::" + name: 1})

    def test_calls_that_do_not_add(self):
        x = torch.randn(5, 6)
        with fanin.torch.exact():
            x[torch.tensor([0, 1]), torch.tensor([2, 3])] = 1.0
            x.scatter(0, torch.zeros(5, 6, dtype=torch.int64), x).normal_()
            x.long().sum(0), x.long().cumsum(0), (x > 0).sum(), x.long() @ x.long().t()
            fanin.torch.logsumexp(x, 1)
            fanin.torch.index_add(x, 0, torch.tensor([1]), x[:1])
        self.assertEqual(fanin.torch.report(), ({}, {}))


if __name__ == "__main__":
    unittest.main()
