# SPDX-License-Identifier: Apache-2.0
"""The operators of fanin.torch: PyTorch's checks of operators and gradients, and values beside exact ones."""

import functools
import itertools
import math
import unittest
from fractions import Fraction

from support import exact_sum, wide_numbers

try:
    import torch
    from torch.autograd import gradcheck, gradgradcheck

    import fanin.torch
    from fanin.torch._gradient_steps import Repeat, Take
    from torch_samples import arranged, numbers, of_fanin, of_pytorch, samples
    CALLS = samples()
except ImportError:
    torch, CALLS = None, {}

NO_GRADIENT = ("count_nonzero", "any", "all", "argmin", "argmax")
ROUNDED = ("mean", "var", "std", "var_mean", "std_mean", "logsumexp")
DIFFERENTIABLE = [name for name in CALLS if name not in NO_GRADIENT]
DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


def moved(value, device):
    return value.to(device) if isinstance(value, torch.Tensor) else value


def of_each(*names):
    """Makes a test of one call a test of all calls of these operators, on every device."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for device in DEVICES:
                for name, calls in CALLS.items():
                    for tensors, others, named in calls if name in (names or CALLS) else ():
                        with self.subTest(name, device=device, others=others, named=named):
                            test(self, name, of_fanin(name), [x.to(device) for x in tensors],
                                 [moved(x, device) for x in others],
                                 {key: moved(x, device) for key, x in named.items()})
        return run
    return decorate


class OfEach(unittest.TestCase):
    """What holds for all calls of all operators."""

    def test_all_operators_have_calls(self):
        operators = {name.partition("::")[2].partition(".")[0] for name in torch._C._dispatch_get_all_op_names()
                     if name.startswith("fanin::")}
        self.assertEqual(operators, set(CALLS))

    @of_each()
    def test_opcheck(self, name, function, tensors, others, named):
        for graded in (False, True) if name not in NO_GRADIENT else (False,):
            inputs = [x.detach().clone().requires_grad_(graded) for x in tensors]
            found = torch.library.opcheck(getattr(torch.ops.fanin, name).default, arranged(name, inputs, others),
                                          named)
            self.assertEqual(set(found.values()), {"SUCCESS"})

    @of_each(*DIFFERENTIABLE)
    def test_gradients(self, name, function, tensors, others, named):
        inputs = [x.clone().requires_grad_() for x in tensors]

        def call(*inputs):
            return function(*arranged(name, inputs, others), **named)
        self.assertTrue(gradcheck(call, inputs))
        if "prod" in others:  # of segments and of scattered elements
            with self.assertRaisesRegex(TypeError, "second derivative"):
                gradgradcheck(call, inputs)
        else:
            self.assertTrue(gradgradcheck(call, inputs))

    @of_each()
    def test_compiled_in_one_graph(self, name, function, tensors, others, named):
        torch._dynamo.reset()
        graded = name not in NO_GRADIENT

        def call(*inputs):
            return function(*arranged(name, inputs, others), **named)
        found = []
        for run in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
            inputs = [x.clone().requires_grad_(graded) for x in tensors]
            result = run(*inputs)
            found.append([result] + (list(torch.autograd.grad(result.sum(), inputs)) if graded else []))
        self.assertTrue(all(map(torch.equal, *found)))

    @of_each()
    def test_vmap(self, name, function, tensors, others, named):
        """A batch of one operator, and of its gradient, has the bits of the calls for each."""
        batch = [torch.stack((x, x.flip(0) if x.dim() else x * 2)) for x in tensors]

        def call(*inputs):
            return function(*arranged(name, inputs, others), **named)
        calls = [call] + ([torch.func.grad(lambda *inputs: call(*inputs).sum())] if name not in NO_GRADIENT else [])
        for one in calls:
            apart, found = torch.stack([one(*(x[i] for x in batch)) for i in range(2)]), torch.vmap(one)(*batch)
            if name in ("prod", "logsumexp"):  # A device adds a row and an array of as many elements in two orders.
                torch.testing.assert_close(found, apart)
            else:
                self.assertTrue(torch.equal(found, apart))

    @of_each()
    def test_types_of_floats(self, name, function, tensors, others, named):
        """Results have the types that PyTorch's have."""
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            inputs = arranged(name, [x.to(dtype) for x in tensors], others)
            self.assertEqual(function(*inputs, **named).dtype, of_pytorch(name)(*inputs, **named).dtype, dtype)

    @of_each("sum", "prod", "amin", "amax", "argmin", "argmax", "count_nonzero", "any", "all", "scatter_add",
             "index_add")
    def test_integers(self, name, function, tensors, others, named):
        for dtype in (torch.int8, torch.uint8, torch.int32, torch.int64):
            inputs = arranged(name, [(x * 2).round().abs().to(dtype) for x in tensors], others)
            found, expected = function(*inputs, **named), of_pytorch(name)(*inputs, **named)
            self.assertEqual(found.dtype, expected.dtype)
            self.assertEqual(found.tolist(), expected.tolist(), dtype)

    @of_each("mean", "var", "std", "var_mean", "std_mean", "vector_norm", "logsumexp", "dot", "vecdot")
    def test_refused_integers(self, name, function, tensors, others, named):
        with self.assertRaisesRegex(TypeError, "the result is a float"):
            function(*arranged(name, [x.to(torch.int64) for x in tensors], others), **named)

    @of_each(*(name for name in CALLS if name not in ROUNDED))
    def test_values_of_pytorch(self, name, function, tensors, others, named):
        """Small integers, for which PyTorch rounds nothing."""
        if "mean" not in others and (name != "vector_norm" or others[0] != 2):
            inputs = arranged(name, [(x * 3).round() for x in tensors], others)
            self.assertTrue(torch.equal(function(*inputs, **named), of_pytorch(name)(*inputs, **named)))

    @of_each()
    def test_autocast(self, name, function, tensors, others, named):
        """Results have the types that PyTorch's own functions have under autocast."""
        device, inputs = tensors[0].device.type, arranged(name, [x.to(torch.bfloat16) for x in tensors], others)
        with torch.autocast(device, torch.bfloat16):
            found = function(*inputs, **named).dtype
            if device == "cuda":
                self.assertEqual(found, of_pytorch(name)(*inputs, **named).dtype)
            elif name in ("sum", "prod", "vector_norm", "logsumexp"):
                self.assertEqual(found, torch.float32)


class Exact(unittest.TestCase):
    """Correctly rounded results, beside those of rational arithmetic."""

    def setUp(self):
        self.rows = [wide_numbers(40, seed, 20) for seed in range(7)]
        self.x = torch.tensor(self.rows, dtype=torch.float64)

    def check(self, results, values):
        self.assertEqual(results.tolist(), values)

    def test_rows(self):
        for device in DEVICES:
            x = self.x.to(device)
            self.check(fanin.torch.sum(x, 1), [exact_sum(row) for row in self.rows])
            self.check(fanin.torch.sum(x.t(), 0), [exact_sum(row) for row in self.rows])
            means, variances = zip(*map(mean_and_variance, self.rows))
            self.check(fanin.torch.mean(x, 1), list(means))
            self.check(fanin.torch.var(x, 1, correction=0), list(variances))
            self.check(torch.cat(fanin.torch.var_mean(x, 1, correction=0)), list(variances + means))
            self.check(fanin.torch.vecdot(x, x), [float(sum(Fraction(v) ** 2 for v in row)) for row in self.rows])

    def test_groups(self):
        keys = torch.arange(40) % 3
        sums = [[exact_sum(row[k::3] + [1.0]) for row in self.rows] for k in range(3)]
        for device in DEVICES:
            x, to = self.x.t().contiguous().to(device), keys.to(device)
            ones = torch.ones(3, 7, dtype=torch.float64, device=device)
            self.check(fanin.torch.index_add(ones, 0, to, x), sums)
            self.check(fanin.torch.scatter_add(ones, 0, to.unsqueeze(1).expand(40, 7), x), sums)
            order = torch.argsort(to, stable=True)
            self.check(fanin.torch.segment_reduce(x[order], "sum", lengths=torch.bincount(to), initial=1), sums)

    def test_order_of_rows(self):
        """The bits of index_add do not depend on the order of the rows, in any type."""
        generator = torch.Generator().manual_seed(3)
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            x = torch.randn(200, 5, generator=generator, dtype=torch.float64).to(dtype)
            order = torch.randperm(200, generator=generator)
            for groups, device in itertools.product((9, 300), DEVICES):  # fewer groups than rows, and more
                keys = torch.randint(0, groups, (200,), generator=generator) // 3 * 3
                base = torch.ones(groups, 5, dtype=dtype, device=device)
                found = [fanin.torch.index_add(base, 0, k.to(device), v.to(device))
                         for k, v in ((keys, x), (keys[order], x[order]))]
                self.assertTrue(torch.equal(*found))
                exact = [[exact_sum(x[keys == k, j].tolist() + [1.0]) for j in range(5)] for k in range(groups)]
                self.assertTrue(torch.equal(found[0].cpu(), torch.tensor(exact, dtype=torch.float64).to(dtype)))

    def test_rows_in_place(self):
        """On a device rows are added where they are: with the CPU's bits, for short and long lists of rows."""
        generator = torch.Generator().manual_seed(4)
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            for count, columns, groups, most in ((700, 24, 3, 9), (700, 7, 400, 9), (300, 8, 40, 60)):
                x = torch.randn(count, columns, generator=generator, dtype=torch.float64)
                x = (x * 2.0 ** torch.randint(-most, most, x.shape, generator=generator)).to(dtype)
                keys = torch.randint(0, groups, (count,), generator=generator)
                base = -torch.zeros(groups, columns, dtype=dtype)
                wide, lengths = keys.unsqueeze(1).expand(count, columns), torch.bincount(keys, minlength=groups)
                expected = fanin.torch.scatter_add(base, 0, wide, x), fanin.torch.segment_reduce(x, "sum", lengths)
                for device in DEVICES[1:]:
                    b, k, v, lengths = (t.to(device) for t in (base, keys, x, lengths))
                    found = (fanin.torch.scatter_add(b, 0, k.unsqueeze(1).expand(count, columns), v),
                             fanin.torch.segment_reduce(v, "sum", lengths))
                    for mine, other in zip(found, expected):
                        self.assertTrue(torch.equal(mine.cpu().nan_to_num(7), other.nan_to_num(7)))
                        self.assertTrue(torch.equal(mine.cpu().signbit(), other.signbit()))

    def test_sums_of_gradients(self):
        """Gradients whose formula has a sum: those of what is repeated, and of what is taken several times."""
        row, one = self.x[0], torch.ones(1, dtype=torch.float64, requires_grad=True)
        Repeat.apply(one, (40,), (0,)).backward(row)
        self.check(one.grad, [exact_sum(self.rows[0])])
        keys, base = torch.arange(40) % 3, torch.ones(3, dtype=torch.float64, requires_grad=True)
        for whole in (True, False):
            found, = torch.autograd.grad(Take.apply(base, 0, keys, whole), base, row)
            self.check(found, [exact_sum(self.rows[0][k::3]) for k in range(3)])


def mean_and_variance(row):
    mean = sum(map(Fraction, row)) / len(row)
    return float(mean), float(sum((Fraction(number) - mean) ** 2 for number in row) / len(row))


class Edges(unittest.TestCase):
    """Inputs without elements, special values and wrong arguments, beside PyTorch's."""

    def same(self, name, *arguments, **named):
        found, expected = getattr(fanin.torch, name)(*arguments, **named), of_pytorch(name)(*arguments, **named)
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        self.assertTrue(torch.equal(found.nan_to_num(7), expected.nan_to_num(7)), (found, expected))

    def test_no_elements(self):
        for device in DEVICES:
            for shape, dim in (((0,), None), ((3, 0), 1), ((3, 0), 0), ((0, 3), 0), ((3, 0), None)):
                x = torch.empty(shape, device=device)
                for name in ("sum", "mean", "prod", "any", "all", "count_nonzero"):
                    self.same(name, x, **({} if dim is None else {"dim": dim}))
                self.same("logsumexp", x, dim=tuple(range(x.dim())) if dim is None else dim)
                self.same("vector_norm", x, dim=dim)
            for name in ("amax", "amin", "argmax", "argmin"):
                for call in (getattr(fanin.torch, name), getattr(torch, name)):
                    with self.assertRaises(IndexError):
                        call(torch.empty(3, 0, device=device), 1)
            self.assertTrue(fanin.torch.var(torch.ones(1, device=device)).isnan())
            self.same("index_add", torch.ones(3, 2, device=device), 0, torch.empty(0, dtype=torch.int64, device=device),
                      torch.empty(0, 2, device=device))

    def test_correction_above_count(self):
        """The gradients of a dispersion and its mean where the correction exceeds the number of elements."""
        for device in DEVICES:
            for name, count, weight in itertools.product(("var_mean", "std_mean"), (1, 3), (0, 1)):
                x, weights = numbers(4, count).to(device).requires_grad_(), torch.tensor([[weight], [3]], device=device)
                found, expected = (torch.autograd.grad((call(x, 1, correction=4) * weights).sum(), x)[0]
                                   for call in (of_fanin(name), of_pytorch(name)))
                torch.testing.assert_close(found, expected, equal_nan=True)
                self.assertEqual(found.isnan().any(), name == "std_mean" and count == 1)

    def test_no_degrees(self):
        """The gradients where no degrees are left. PyTorch has another rule if dim names no axes."""
        names = "var", "std", "var_mean", "std_mean"
        for device, name, weight, more in itertools.product(DEVICES, names, (0, -1), (0, 1)):
            for shape, dim, count in (((), None, 1), ((), 0, 1), ((4,), None, 4), ((4, 2), None, 8), ((4, 2), 1, 2)):
                with self.subTest(name, device=device, weight=weight, shape=shape, dim=dim, correction=count + more):
                    x = numbers(*shape).to(device).requires_grad_()
                    found, expected = (torch.autograd.grad((call(x, dim, correction=count + more) * weight).sum(), x)[0]
                                       for call in (of_fanin(name), of_pytorch(name)))
                    torch.testing.assert_close(found, expected, equal_nan=True)

    def test_gradients_of_16_bits(self):
        """The steps are rounded to f32 and the gradient to 16 bits, wherever the elements lie."""
        f = fanin.torch
        for device, dtype, length in itertools.product(DEVICES, (torch.float16, torch.bfloat16), (24, 25)):
            x, given = numbers(6, length).to(device, dtype), numbers(6).to(device, dtype)
            grad, centred, factor = given.float(), x.float() - f.mean(x, 1, True).float(), 2 / (length - 1)
            expected = {
                f.var: centred * (grad * factor).unsqueeze(1),
                f.std: centred * (grad / (2 * f.std(x, 1).float()) * factor).unsqueeze(1),
                f.vector_norm: x.float() * (grad / f.vector_norm(x, dim=1).float()).unsqueeze(1)}
            for function, some in itertools.product(expected, (x, x.t().contiguous().t())):
                with self.subTest(function.__name__, device=device, dtype=dtype, contiguous=some.is_contiguous()):
                    leaf = some.detach().requires_grad_()
                    found, = torch.autograd.grad(function(leaf, dim=1), leaf, given)
                    self.assertTrue(torch.equal(found, expected[function].to(dtype)))

    def test_sums_beyond_the_type(self):
        """The mean of numbers whose sum does not fit is right, where PyTorch's is infinite."""
        for device in DEVICES:
            x = torch.tensor([3e38, 3e38], device=device)
            self.assertEqual((fanin.torch.mean(x), fanin.torch.sum(x)), (x[0], math.inf))

    def test_special_values(self):
        inf, nan = math.inf, math.nan
        for device in DEVICES:
            for values in ([1, inf], [inf, -inf], [1, nan], [-inf, -inf], [nan, inf]):
                x = torch.tensor(values, device=device)
                for name in ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "vector_norm", "any"):
                    self.same(name, x)
                self.same("logsumexp", x, 0)

    def test_dtype(self):
        """dtype converts the elements first, as PyTorch has it."""
        types = (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int32, torch.int64, torch.complex64)
        for name in ("sum", "mean", "prod", "vector_norm"):
            for own in types:
                for dtype in types[:4] + (types[4:] if name in ("sum", "prod") else ()):
                    x = (numbers(3, 5) * 9).to(own)
                    if own.is_complex and (name == "vector_norm" or not dtype.is_complex):
                        continue
                    function = getattr(fanin.torch, name)
                    found, expected = function(x, dim=1, dtype=dtype), function(x.to(dtype), dim=1)
                    self.assertEqual(expected.dtype, torch.int64 if dtype == torch.int32 else dtype)
                    self.assertTrue(torch.equal(found, expected.to(dtype)), (name, own, dtype))

    def test_keys(self):
        x = torch.ones(3, 2)
        for keys in ([0, 3, 1], [0, -1, 1]):
            for call in (lambda k: fanin.torch.index_add(x, 0, k, x),
                         lambda k: fanin.torch.index_add(x[0], 0, k, x[:, 0]),
                         lambda k: fanin.torch.scatter_add(x, 0, k.unsqueeze(1), x)):
                with self.assertRaises(IndexError):
                    call(torch.tensor(keys))
        with self.assertRaisesRegex(ValueError, "there are 3 elements"):
            fanin.torch.segment_reduce(x, "sum", lengths=torch.tensor([2, 2]))

    def test_refused(self):
        x = torch.ones(3, 2)
        for call, words in ((lambda: fanin.torch.sum(x, 2), "there is no dim 2"),
                            (lambda: fanin.torch.vector_norm(x, 3), "ord is 1, 2 or inf"),
                            (lambda: fanin.torch.dot(x, x), "vecdot"), (lambda: fanin.torch.vecdot(x, x[0]), "shape"),
                            (lambda: fanin.torch.sum(x, method="best"), "there is no method 'best'"),
                            (lambda: fanin.torch.scatter_reduce(x, 0, x.long(), x, "first"), "choose one of"),
                            (lambda: fanin.torch.index_add(x, 0, torch.tensor([1]), x), "do not fit")):
            with self.assertRaisesRegex((IndexError, ValueError, TypeError), words):
                call()
        with self.assertRaisesRegex(RuntimeError, "twice"):
            fanin.torch.sum(x, [0, 0])

    def test_wrong_arguments(self):
        """An argument that does not exist, is missing or is given twice is an error, with a gradient and without."""
        for x in (torch.ones(3), torch.ones(3, requires_grad=True)):
            for call in (lambda: fanin.torch.sum(x, keepdims=True), lambda: fanin.torch.sum(x, 0, dim=0),
                         lambda: fanin.torch.sum(x, 0, False, torch.float64), lambda: fanin.torch.sum(),
                         lambda: fanin.torch.index_add(x, 0, torch.tensor([1]))):
                with self.assertRaises((RuntimeError, TypeError)):
                    call()

    def test_zeros_in_products(self):
        """The gradients of a product with one zero and with two, beside PyTorch's."""
        for zeros in (1, 2):
            x = numbers(5)
            x[:zeros] = 0
            keys = torch.zeros(5, dtype=torch.int64)
            for ours, theirs in ((fanin.torch.prod, torch.prod),
                                 (lambda x: fanin.torch.segment_reduce(x, "prod", torch.tensor([5])), torch.prod),
                                 (lambda x: fanin.torch.scatter_reduce(x[:1], 0, keys[1:], x[1:], "prod"), torch.prod)):
                found = [torch.autograd.grad(call(y).sum(), y)[0] for call, y in
                         ((ours, x.clone().requires_grad_()), (theirs, x.clone().requires_grad_()))]
                self.assertTrue(torch.allclose(*found, rtol=2.0 ** -50, atol=0))

    def test_complex_numbers(self):
        x = torch.complex(numbers(3, 4), numbers(3, 4, seed=2)).requires_grad_()
        for call in (lambda x: fanin.torch.sum(x, 1), lambda x: fanin.torch.mean(x, 0),
                     lambda x: fanin.torch.prod(x, 1),
                     lambda x: fanin.torch.vector_norm(x, 2, 1), lambda x: fanin.torch.vecdot(x, x * x),
                     lambda x: fanin.torch.dot(x[0], x[1])):
            self.assertTrue(gradcheck(call, (x,)))


if __name__ == "__main__":
    unittest.main()
