# SPDX-License-Identifier: Apache-2.0
"""The exact mode: what it replaces, beside PyTorch's own results."""

import itertools
import math
import unittest
import warnings

from support import exact_sum, wide_numbers

try:
    import torch
    from torch import nn
    from torch.autograd import gradcheck
    from torch.nn import functional

    import fanin.torch
    from fanin.torch import _plans, _replacements
    from fanin.torch._replacements import REPLACEMENTS
    from torch_samples import numbers
except ImportError:
    torch = None

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


def calls():
    """Calls by the operator of PyTorch that the exact mode replaces for them."""
    keys, classes = torch.tensor([2, 0, 2, 1]), torch.tensor([1, 0, -100, 4])
    weight, places = numbers(5, seed=3).abs() + 0.1, torch.tensor([[1, 0, 1, 2, 1]] * 4)
    flat = functional
    return {
        "sum": [lambda x: x.sum(), lambda x: x.sum(1), lambda x: x.sum((0, 1), True),
                lambda x: x.sum(0, dtype=torch.float64)],
        "mean": [lambda x: x.mean(), lambda x: x.mean(-1, True)],
        "var": [lambda x: x.var(1), lambda x: x.var(correction=0)],
        "std": [lambda x: x.std(0)],
        "var_mean": [lambda x: sum(torch.var_mean(x, 1))],
        "std_mean": [lambda x: sum(torch.std_mean(x, 0, correction=0))],
        "linalg_vector_norm": [lambda x: torch.linalg.vector_norm(x, 1, 1), lambda x: torch.linalg.vector_norm(x),
                               lambda x: torch.linalg.vector_norm(x, math.inf, 0)],
        "logsumexp": [lambda x: x.logsumexp(1)],
        "dot": [lambda x: x[0].dot(x[1])],
        "_softmax": [lambda x: x.softmax(1), lambda x: x.softmax(0)],
        "_log_softmax": [lambda x: x.log_softmax(1)],
        "_safe_softmax": [lambda x: torch.ops.aten._safe_softmax(x, 1)],
        "nll_loss_forward": [
            lambda x: flat.nll_loss(x, classes.to(x.device)),
            lambda x: flat.nll_loss(x, classes.to(x.device), weight.to(x)),
            lambda x: flat.nll_loss(x, classes.to(x.device), weight.to(x), reduction="sum"),
            lambda x: flat.nll_loss(x[0], classes[0].to(x.device))],
        "nll_loss2d_forward": [
            lambda x: flat.nll_loss(x.t()[None, :, :, None].contiguous(), keys.to(x.device)[None, :, None])],
        "native_layer_norm": [lambda x: flat.layer_norm(x, (5,)), lambda x: flat.layer_norm(x, (5,), x[0], x[1]),
                              lambda x: flat.layer_norm(x[None], (4, 5), x)],
        "embedding_dense_backward": [lambda x: flat.embedding(keys.to(x.device), x),
                                     lambda x: flat.embedding(keys.to(x.device), x, padding_idx=2),
                                     lambda x: flat.embedding(keys.to(x.device), x, scale_grad_by_freq=True)],
        "index_add": [lambda x: torch.zeros_like(x).index_add(0, keys.to(x.device), x)],
        "index_add_": [lambda x: torch.zeros_like(x).index_add_(0, keys.to(x.device), x, alpha=2)],
        "scatter_add": [lambda x: torch.zeros_like(x).scatter_add(1, places.to(x.device), x)],
        "scatter_add_": [lambda x: torch.zeros_like(x).scatter_add_(1, places.to(x.device), x)],
        "scatter_reduce": [lambda x: torch.zeros_like(x).scatter_reduce(1, places.to(x.device), x, "mean")],
        "scatter_reduce_": [lambda x: torch.zeros_like(x).scatter_reduce_(1, places.to(x.device), x, "amax")],
        "index_put": [lambda x: x[keys.to(x.device)], lambda x: x[:, keys.to(x.device) - 3]],
        "index_put_": [lambda x: torch.zeros_like(x).index_put_((keys.to(x.device),), x, accumulate=True)],
    }


class Replacements(unittest.TestCase):
    """Every replacement has PyTorch's values, within PyTorch's own tolerance, and is counted by report()."""

    def check(self, name, call, x):
        def with_gradient():
            leaf = x.clone().requires_grad_()
            result = call(leaf)
            grad = numbers(*result.shape, dtype=result.dtype, seed=3).to(result.device)
            return result.detach(), torch.autograd.grad(result, leaf, grad)[0]
        with fanin.torch.exact():
            found = with_gradient()
        self.assertIn("aten::" + name, fanin.torch.report().replaced)
        own, x = with_gradient(), x.to(torch.promote_types(x.dtype, torch.float64))
        expected = with_gradient()
        self.assertEqual([part.dtype for part in found], [part.dtype for part in own])
        for mine, other, exact in zip(found, own, expected):
            if mine.dtype == torch.bfloat16:  # PyTorch's own results are worse, and may be far from what is right.
                allowed = (other - exact).abs().max() + 2 ** -7 * exact.abs().max()
                self.assertLessEqual((mine - exact).abs().max(), allowed)
            else:
                torch.testing.assert_close(mine, exact.to(mine.dtype))

    def test_values(self):
        for device, dtype in itertools.product(DEVICES, (torch.bfloat16, torch.float32, torch.float64)):
            for name, some in calls().items():
                for i, call in enumerate(some):
                    with self.subTest(name, call=i, dtype=dtype, device=device):
                        self.check(name, call, numbers(4, 5).to(device, dtype))

    def test_conversions(self):
        """Sums of integers and others as floats are replaced: PyTorch converts the elements first, and so does the mode."""
        big = torch.randint(-2 ** 40, 2 ** 40, (64, 32), generator=torch.Generator().manual_seed(6))
        calls = (("sum", lambda x, dtype: x.sum(dtype=dtype)), ("sum", lambda x, dtype: x.sum(1, True, dtype=dtype)),
                 ("mean", lambda x, dtype: x.mean(dtype=dtype)), ("mean", lambda x, dtype: x.mean((0,), dtype=dtype)),
                 ("_safe_softmax", lambda x, dtype: torch.ops.aten._safe_softmax(x, 1, dtype)))
        types = (torch.int64, torch.int32, torch.uint8, torch.bool, torch.float8_e5m2)
        for device, own, dtype in itertools.product(DEVICES, types, _replacements.FLOATS):
            x = big.to(own).to(device)
            for i, (name, call) in enumerate(calls):
                with self.subTest(name, call=i, own=own, dtype=dtype, device=device):
                    with fanin.torch.exact():
                        found = call(x, dtype)
                    self.assertEqual(fanin.torch.report(), ({"aten::" + name: 1}, {}))
                    with fanin.torch.exact():
                        # Doubles hold all sums, and counts are powers of 2: to() is the only rounding.
                        expected = call(x.to(dtype), dtype) if name[0] == "_" else call(x.to(dtype).double(), None)
                    torch.testing.assert_close(found, expected.to(dtype), rtol=0, atol=0, equal_nan=True)

    def test_complex_numbers(self):
        norm = torch.linalg.vector_norm
        x = torch.complex(numbers(4, 5), numbers(4, 5, seed=2))
        for name, call in (
                ("sum", lambda x: x.sum()), ("sum", lambda x: x.conj().sum(1, True)), ("mean", lambda x: x.mean(0)),
                ("mean", lambda x: x.mean(dtype=torch.complex128)),
                ("linalg_vector_norm", norm), ("linalg_vector_norm", lambda x: norm(x, 2, (0,), True)),
                ("linalg_vector_norm", lambda x: norm(x, dtype=torch.complex128)), ("dot", lambda x: x[0].dot(x[1])),
                ("vdot", lambda x: x[0].vdot(x[1])), ("vdot", lambda x: x[0].conj().vdot(x[1].conj()))):
            for device, dtype in itertools.product(DEVICES, (torch.complex64, torch.complex128)):
                with self.subTest(name, dtype=dtype, device=device):
                    self.check(name, call, x.to(device, dtype))
            with fanin.torch.exact():
                self.assertTrue(gradcheck(call, (x.clone().requires_grad_(),)))
        with fanin.torch.exact(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of lost imaginary parts.
            self.assertEqual(x.real.sum(dtype=x.dtype), fanin.torch.sum(x.real))  # PyTorch has no gradient here.
            norms = torch._foreach_norm([x, x.real])
            x.sum(dtype=torch.float64), norm(x, 1), torch._foreach_norm([x.real, x], 1), x.prod(), x.var()
        self.assertEqual(list(norms), [fanin.torch.vector_norm(x), fanin.torch.vector_norm(x.real)])
        left = dict.fromkeys(("sum", "linalg_vector_norm", "_foreach_norm", "prod", "var"), 1)
        self.assertEqual(fanin.torch.report(), ({"aten::sum": 1, "aten::_foreach_norm": 1},
                                                {"aten::" + name: count for name, count in left.items()}))
        parts = wide_numbers(500, 4), wide_numbers(500, 5)
        with fanin.torch.exact():
            found = torch.complex(*(torch.tensor(part, dtype=torch.float64) for part in parts)).sum().item()
        self.assertEqual(found, complex(*map(exact_sum, parts)))

    def test_inference_mode(self):
        """Under inference_mode() operators that PyTorch composes of others are composed in the mode, as elsewhere."""
        def found(context, call, x):
            with context(), fanin.torch.exact():
                return call(x), fanin.torch.report()
        others = [lambda x: functional.cross_entropy(x, torch.tensor([1, 0, 2, 4], device=x.device)),
                  lambda x: functional.rms_norm(x, (5,)), lambda x: functional.normalize(x),
                  lambda x: torch.einsum("ab,cb->ac", x, x)]
        for device, dtype in itertools.product(DEVICES, (torch.bfloat16, torch.float32)):
            for name, some in (*calls().items(), ("others", others)):
                for i, call in enumerate(some):
                    with self.subTest(name, call=i, dtype=dtype, device=device):
                        x = numbers(4, 5).to(device, dtype)
                        expected, counts = found(torch.no_grad, call, x)
                        result, found_counts = found(torch.inference_mode, call, x)
                        self.assertTrue(torch.equal(result, expected))
                        self.assertEqual(found_counts, counts)

    def test_nested_tensors(self):
        """PyTorch has kernels of its own for nested tensors, and composes no operators for them."""
        x = torch.nested.nested_tensor([torch.randn(2, 8), torch.randn(3, 8)])
        for context, call in itertools.product((torch.no_grad, torch.inference_mode), (
                lambda: x.softmax(-1), lambda: functional.linear(x, torch.ones(3, 8)), lambda: x @ x.transpose(1, 2))):
            with context():
                expected = call()
                with fanin.torch.exact():
                    found = call()
                self.assertTrue(all(map(torch.equal, found.unbind(), expected.unbind())))

    def test_nested_modes(self):
        """report() is about the mode that was entered last, whatever the other one composes."""
        x = torch.ones(3, 4).t()
        with torch.inference_mode(), fanin.torch.exact(), fanin.torch.exact():
            functional.layer_norm(x, (3,))
            self.assertEqual(fanin.torch.report(), ({"aten::native_layer_norm": 1}, {}))

    def test_gradients(self):
        for name, some in calls().items():
            if name == "embedding_dense_backward":
                continue  # Padding has no gradient by definition.
            for i, call in enumerate(some):
                with self.subTest(name, call=i), fanin.torch.exact():
                    self.assertTrue(gradcheck(call, (numbers(4, 5).requires_grad_(),)))

    def test_all_are_called(self):
        """No replacement is without a call, but those of operators that are called by others alone."""
        known = {operator._schema.name.partition("::")[2] for operator in REPLACEMENTS}
        backward = {"_softmax_backward_data", "_log_softmax_backward_data", "native_layer_norm_backward"}
        others = {"_foreach_norm", "_fused_rms_norm", "_fused_rms_norm_backward", "_index_put_impl_", "vdot"}
        self.assertEqual(known - backward - others, set(calls()))
        self.assertLessEqual(backward | others, known)

    def test_rms_norm(self):
        """PyTorch has the fused operator on devices alone, so that it is called here beside its formula."""
        for device in DEVICES:
            x, weight, grad = (numbers(4, 6, seed=seed).to(device) for seed in (1, 2, 3))
            weight = weight[0]

            def formula(x, weight):
                return x * (x.square().mean(-1, True) + 1e-5).rsqrt() * weight
            expected, back = torch.autograd.functional.vjp(formula, (x, weight), grad)
            aten = torch.ops.aten
            found, scale = REPLACEMENTS[aten._fused_rms_norm.default](x, (6,), weight, 1e-5)
            torch.testing.assert_close(found, expected)
            torch.testing.assert_close(
                REPLACEMENTS[aten._fused_rms_norm_backward.default](grad, x, (6,), scale, weight, (True, True)), back)
            leaf = x.clone().requires_grad_()
            with fanin.torch.exact():
                found = functional.rms_norm(leaf, (6,), weight, 1e-5)
                torch.testing.assert_close(torch.autograd.grad(found, leaf, grad)[0], back[0])
            torch.testing.assert_close(found, expected)

    def test_narrow_norms(self):
        """Elements of 16 bits are not copied, and the results have the bits of copies as f32, rounded at the end."""
        for device, dtype in itertools.product(DEVICES, (torch.bfloat16, torch.float16)):
            x, weight, bias = (numbers(40, 65, seed=seed).to(device, dtype) for seed in (1, 2, 3))
            wide, weight, bias = x.float(), weight[0], bias[0]
            found, scale = REPLACEMENTS[torch.ops.aten._fused_rms_norm.default](x, (65,), weight, 1e-5)
            squares = fanin.torch.vecdot(wide, wide).unsqueeze(1)
            self.assertTrue(torch.equal(scale, (squares / 65 + 1e-5).rsqrt()))
            self.assertTrue(torch.equal(found, (wide * scale * weight.float()).to(dtype)))
            with fanin.torch.exact():
                layer, soft = functional.layer_norm(x, (65,), weight, bias), x.softmax(1)
            mean, variance = fanin.torch.mean(wide, 1, True), fanin.torch.var(wide, 1, correction=0, keepdim=True)
            expected = (wide - mean) * (variance + 1e-5).rsqrt() * weight.float() + bias.float()
            self.assertTrue(torch.equal(layer, expected.to(dtype)))
            powers = (wide - wide.amax(1, True)).exp()
            self.assertTrue(torch.equal(soft, (powers / fanin.torch.sum(powers, 1, True)).to(dtype)))

    def test_statistics_have_plans(self):
        """Statistics of norms of layers are f32 for elements of 16 bits, which the library reads in place."""
        if _plans.reduce_buffer is None:
            self.skipTest("the package has no module for short calls")
        for device, dtype in itertools.product(DEVICES, (torch.bfloat16, torch.float16, torch.float32)):
            for statistic in (_replacements.means, _replacements.variances, _replacements.sums_of_squares):
                statistic.plans.clear()
                self.assertEqual(statistic(numbers(4, 6).to(device, dtype), 1).dtype, torch.float32)
                self.assertEqual([plan is None for plan in statistic.plans.values()], [False])
            _replacements.plans_of_both.clear()
            x = numbers(4, 6).to(device, dtype)
            both = _replacements.variances_and_means(x, 1)
            self.assertTrue(all(map(torch.equal, both, (_replacements.variances(x, 1), _replacements.means(x, 1)))))
            self.assertEqual([plan is None for plan in _replacements.plans_of_both.values()], [False] * x.is_cuda)

    def test_exact_values(self):
        x = torch.tensor(wide_numbers(500, 3))
        leaf = x.float().requires_grad_()
        with fanin.torch.exact():
            self.assertEqual(x.double().sum().item(), exact_sum(x.double().tolist()))
            norms = torch._foreach_norm([leaf.detach()])
            functional.embedding(torch.zeros(500, dtype=torch.int64), nn.Parameter(torch.ones(1, 1)))
        self.assertEqual(norms[0], fanin.torch.vector_norm(leaf.detach()))

    def test_report(self):
        x = torch.ones(3, 3)
        with fanin.torch.exact():
            x.sum()
            x @ x
            x.long().sum()
            x.relu()
            with fanin.torch.exact():
                x.mean()
        self.assertEqual(fanin.torch.report(), ({"aten::mean": 1}, {}))
        with fanin.torch.exact():
            (x @ x).cumsum(0).amax()
            x.prod()
        self.assertEqual(fanin.torch.report(), ({}, {"aten::mm": 1, "aten::cumsum": 1, "aten::prod": 1}))
        self.assertIn("left:\n       1 aten::cumsum", str(fanin.torch.report()))

    def test_compiled_functions(self):
        """A function that was compiled before has the mode's results inside of it."""
        x = torch.tensor(wide_numbers(500, 3), dtype=torch.float64)
        compiled = torch.compile(lambda x: x.sum() * 1, backend="aot_eager")
        compiled(x)
        with fanin.torch.exact():
            self.assertEqual(compiled(x).item(), exact_sum(x.tolist()))


if __name__ == "__main__":
    unittest.main()
