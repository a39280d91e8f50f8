# SPDX-License-Identifier: Apache-2.0
"""torch and CuPy arrays: values against exact sums of the host, libraries and devices of results, and streams."""

import unittest

import fanin
from support import bits, exact_sum, wide_numbers

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

HAS_TORCH_GPU = torch is not None and torch.cuda.is_available()
HAS_CUPY_GPU = cupy is not None and cupy.is_available()
ROUNDS = 1000


def as_host(result):
    return result.cpu().tolist() if hasattr(result, "cpu") else result.tolist()


class OfLibrary:
    """The tests of one library; `make` gives its array, on a device or not, of a list of numbers."""

    def make(self, numbers, dtype):
        raise NotImplementedError

    def check_kind(self, result, like):
        self.assertEqual(type(result), type(like))
        self.assertEqual(result.device, like.device)

    def test_sums(self):
        for dtype in ("float32", "float64"):
            for count in (1, 7, 1000, 300001):
                x = self.make(wide_numbers(count, count, 20), dtype)
                self.check_kind(fanin.sum(x), x)
                total = exact_sum(as_host(x))
                expected = as_host(self.make([total], dtype))[0]  # rounded twice for f32, unless the sum is a double
                found = as_host(fanin.sum(x))
                if dtype == "float64":
                    self.assertEqual(found, expected)
                self.assertEqual(found, fanin.sum(as_host(x), dtype="f64") if dtype == "float64"
                                 else fanin.State(dtype="f32").add(self.host(x)).value())

    def host(self, x):
        from array import array
        return array("f", as_host(x))

    def test_operations(self):
        for dtype in ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool"):
            numbers = [number % 7 for number in range(5000)]
            x = self.make(numbers, dtype)
            values = as_host(x)
            real = dtype.startswith("float")
            for name in ("sum", "min", "max", "mean", "argmin", "argmax", "count_nonzero", "any", "all", "variance",
                         "max_magnitude", "sum_of_magnitudes") + (("norm2", "log_sum_exp") if real else ()):
                operation = getattr(fanin, name)
                result = operation(x)
                self.check_kind(result, x)
                host = as_host(operation(self.on_host(x)))
                if name != "log_sum_exp":
                    self.assertEqual(as_host(result), host, (name, dtype))
                self.assertEqual(operation(self.on_host(x)).dtype, self.on_host(result).dtype, (name, dtype))
            self.assertEqual([as_host(part) for part in fanin.minmax(x)], [min(values), max(values)])
            if dtype in ("float32", "float64"):
                self.assertEqual(as_host(fanin.dot(x, x)), sum(v * v for v in values))

    def test_log_sum_exp_of_integers(self):
        def results(x, keys, offsets):
            rows = x.reshape(60, 100)
            return (fanin.log_sum_exp(x), fanin.log_sum_exp(x[:1]), fanin.log_sum_exp(x, where=x != 1),
                    fanin.log_sum_exp(x, dtype="float64"), fanin.log_sum_exp(rows, 0), fanin.log_sum_exp(rows, 1),
                    fanin.segment_log_sum_exp(x, offsets), fanin.group_log_sum_exp(x, keys, 3))
        keys, offsets = self.make([0, 1, 2] * 2000, "int64"), self.make([0, 1, 70, 6000], "int64")
        for dtype in ("int8", "uint8", "int16", "int32", "int64", "bool"):
            x = self.make([number % 90 for number in range(6000)], dtype)
            on_host = results(*(self.on_host(one) for one in (x, keys, offsets)))
            for found, expected in zip(results(x, keys, offsets), on_host):
                self.check_kind(found, x)
                self.assertEqual(self.on_host(found).dtype, expected.dtype, dtype)
                for a, b in zip(self.on_host(found).reshape(-1).tolist(), expected.reshape(-1).tolist()):
                    self.assertAlmostEqual(a, b, delta=1e-13 * max(1, abs(b)))
        for large in (2 ** 53 + 1, -2 ** 53 - 1):
            with self.assertRaises(fanin.Overflow):
                fanin.log_sum_exp(self.make([1, large], "int64"))

    def test_rows_without_elements(self):
        x = self.make([], "float32")
        for name in ("dot", "vdot", "sum", "product", "sum_of_squares", "count_nonzero"):
            for method in ("fast",) if name in ("product", "count_nonzero") else ("exact", "fast", "compensated"):
                for shape, axis in (((0, 5), 0), ((5, 0), 1), ((0, 300), 0)):
                    rows = [x.reshape(shape)] * (2 if name.endswith("dot") else 1)
                    found = getattr(fanin, name)(*rows, axis=axis, method=method)
                    self.assertEqual(as_host(found), [1 if name == "product" else 0] * max(shape), (name, method))

    def test_same_shapes(self):
        """A call for a shape that came before reads the new elements, at their own strides, and has the results of the
        same type."""
        for dtype in ("float32", "float16", "int32", "int8", "bool"):
            for first in (1, 2):
                x = self.make([number % 7 for number in range(first, first + 24 * 50)], dtype).reshape(24, 50)
                others = x[:, 2:], x[:, :48], self.make([1, 0] * 12 * 48, dtype).reshape(24, 48), x.T
                for given in (x, *others):
                    host = self.on_host(given)
                    for name in ("sum", "max", "argmax", "any", "count_nonzero"):
                        for axis in (0, 1, None, -1):
                            found, expected = getattr(fanin, name)(given, axis), getattr(fanin, name)(host, axis)
                            self.check_kind(found, x)
                            self.assertEqual(as_host(found), as_host(expected), (name, dtype, axis))
                            self.assertEqual(self.on_host(found).dtype, expected.dtype, (name, dtype, axis))
                self.assertEqual([as_host(part) for part in fanin.minmax(x, 1)],
                                 [as_host(part) for part in fanin.minmax(self.on_host(x), 1)])
        with self.assertRaises(fanin.InvalidArgument):
            fanin.sum(x, 2)

    def test_rows(self):
        x = self.make(wide_numbers(24 * 50, 5), "float64").reshape(24, 50)
        expected = [exact_sum(row) for row in as_host(x)]
        result = fanin.sum(x, 1)
        self.check_kind(result, x)
        self.assertEqual(as_host(result), expected)
        self.assertEqual(as_host(fanin.sum(x[:, 1:49:3], 1)), [exact_sum(row[1:49:3]) for row in as_host(x)])
        self.assertEqual(as_host(fanin.sum(x.T, 0, keepdims=True)), [expected])
        self.assertEqual(as_host(fanin.argmax(x, 1)), [row.index(max(row)) for row in as_host(x)])
        self.assertEqual(as_host(fanin.sum(x.T)), exact_sum(sum(as_host(x), [])))
        out = self.make([0.0] * 24, "float64")
        self.assertIs(fanin.sum(x, 1, out=out), out)
        self.assertEqual(as_host(out), expected)

    def test_batches(self):
        x = self.make([1.0, 2.0, 3.0, 4.0], "float64")
        keys, offsets = self.make([0, 2, 0, 2], "int64"), self.make([0, 1, 1, 4], "int64")
        self.check_kind(fanin.group_sum(x, keys, 3), x)
        for of_keys in ("int8", "uint8", "int16", "int32", "int64"):
            self.assertEqual(as_host(fanin.group_sum(x, self.make([0, 2, 0, 2], of_keys), 3)), [4.0, 0.0, 6.0])
        self.assertEqual(as_host(fanin.segment_sum(x, offsets)), [1.0, 0.0, 9.0])
        self.assertEqual(as_host(fanin.segment_max(x, self.make([0, 1, 4], "int32"))), [1.0, 4.0])

    def test_other_batches_of_a_type(self):
        """A call for a type that came before reads the new elements, offsets and keys."""
        for dtype in ("float32", "float16", "int32", "int8", "bool"):
            for count in (1200, 700):
                x = self.make([number % 7 for number in range(count, 2 * count)], dtype)
                for of_index in ("int32", "int64"):
                    offsets = self.make([0, 5, count // 2, count], of_index)
                    keys = self.make([number % 3 for number in range(count)], of_index)
                    for name in ("sum", "max", "argmax", "any", "count_nonzero", "variance"):
                        segments, groups = (getattr(fanin, f"{layout}_{name}") for layout in ("segment", "group"))
                        for call, *index in ((segments, offsets), (groups, keys, 3)):
                            found = call(x, *index)
                            expected = call(self.on_host(x), self.on_host(index[0]), *index[1:])
                            self.check_kind(found, x)
                            self.assertEqual(as_host(found), as_host(expected), (name, dtype, count, of_index))
                            self.assertEqual(self.on_host(found).dtype, expected.dtype, (name, dtype))
                    self.assertEqual([as_host(part) for part in fanin.segment_minmax(x, offsets)],
                                     [as_host(part) for part in fanin.segment_minmax(self.on_host(x),
                                                                                     self.on_host(offsets))])
        with self.assertRaises(fanin.InvalidArgument):
            fanin.segment_sum(x, offsets[:0])

    def test_index_add(self):
        out = self.make([1.0, 0.0, 0.5], "float64")
        keys, x = self.make([0, 2, 0, 2], "int64"), self.make([1e16, 2.0, -1e16, 4.0], "float64")
        for _ in range(2):
            self.assertIs(fanin.index_add(out, keys, x), out)
        self.assertEqual(as_host(out), [1.0, 0.0, 12.5])
        fanin.index_add(out, keys, x, operation="max", where=x < 1e9)
        self.assertEqual(as_host(out), [1.0, 0.0, 12.5])
        with self.assertRaises(fanin.Unsupported):
            fanin.index_add(self.make([1.0], "float64").reshape(1, 1), keys, x)

    def test_results_over_inputs(self):
        x = self.make(range(64), "float64").reshape(8, 8)
        expected, out = as_host(fanin.mean(x, 1)), x[3]
        self.assertIs(fanin.mean(x, 1, out=out), out)
        self.assertEqual(as_host(x[3]), expected)
        x = self.make([1.0, 2.0, 3.0, 4.0], "float64")
        fanin.index_add(x[1:], self.make([0, 2, 0, 2], "int64"), x)
        self.assertEqual(as_host(x), [1.0, 6.0, 3.0, 10.0])

    def test_masks(self):
        x = self.make([1.0, 2.0, 3.0, 4.0], "float32")
        self.assertEqual(as_host(fanin.sum(x, where=x > 2)), 7.0)

    def test_describe(self):
        floats, integers = [float("nan")] + wide_numbers(1000, 9), [number % 7 for number in range(1 << 20)]
        for dtype in ("float32", "float64", "int8", "int64", "bool"):
            x = self.make(floats if dtype.startswith("float") else integers, dtype)
            for nan in ("propagate", "skip"):
                self.check_description(fanin.describe(x, nan=nan), fanin.describe(self.on_host(x), nan=nan))
                self.check_description(fanin.describe(x, where=x > 0, nan=nan),
                                       fanin.describe(self.on_host(x), where=self.on_host(x > 0), nan=nan))
        with self.assertRaises(fanin.InvalidArgument):
            fanin.describe(self.make([], "float32"))

    def check_description(self, found, expected):
        self.assertEqual(found[:2], expected[:2])
        self.assertEqual([bits(number) for number in found[2:]], [bits(number) for number in expected[2:]])

    def test_states(self):
        numbers = wide_numbers(4000, 8)
        parts = [fanin.State(self.make(numbers[i::4], "float64")) for i in range(4)]
        lanes = parts[0].lanes()
        self.check_kind(lanes, self.make([1.0], "float64"))
        for part in parts[1:]:
            lanes = lanes + part.lanes()
        self.assertEqual(fanin.State.from_lanes(lanes).save(), fanin.State(numbers).save())

    def test_report(self):
        x = self.make([0.1] * 10, "float64")
        found = fanin.report("sum", x)
        self.assertEqual((float(found.value), found.method), (1.0, "exact"))

    def test_empty(self):
        self.assertEqual(as_host(fanin.sum(self.make([], "float32"))), 0.0)


class Torch(OfLibrary):
    device = "cpu"

    def make(self, numbers, dtype):
        return torch.tensor(numbers, dtype=getattr(torch, dtype), device=self.device)

    def on_host(self, x):
        return x.cpu()

    def test_narrow(self):
        x = torch.arange(1000, device=self.device).to(torch.bfloat16) / 7
        found = fanin.sum(x)
        self.assertEqual((found.dtype, found.device), (torch.bfloat16, x.device))
        total = torch.tensor(exact_sum(x.tolist()), dtype=torch.float64)
        self.assertEqual(found.item(), total.to(torch.bfloat16).item())
        self.assertEqual(fanin.sum(x, dtype="f64").item(), exact_sum(x.tolist()))

    def test_refused(self):
        x = torch.ones(3, device=self.device)
        for given, words in ((x.clone().requires_grad_(), "fanin.torch, which have gradients, or x.detach()"),
                             (x.to_sparse(), "x.to_dense()"),
                             (torch.ones(3, dtype=torch.complex64, device=self.device).conj(), "x.resolve_conj()")):
            with self.assertRaises(fanin.Unsupported) as caught:
                fanin.sum(given)
            self.assertIn(words, str(caught.exception))
        with torch.no_grad():
            self.assertEqual(fanin.sum(x.requires_grad_()).item(), 3.0)


@unittest.skipIf(torch is None, "torch is not installed")
class TorchOnHost(Torch, unittest.TestCase):
    pass


@unittest.skipUnless(HAS_TORCH_GPU, "torch has no GPU")
class TorchOnDevice(Torch, unittest.TestCase):
    device = "cuda:0"

    def test_side_stream(self):
        """The sum of what a kernel of 10 ms writes on a side stream, each time another number."""
        x = torch.zeros(1 << 16, device="cuda")
        side = torch.cuda.Stream()
        cycles = cycles_of(0.010)
        side.wait_stream(torch.cuda.current_stream())
        found = []
        with torch.cuda.stream(side):
            for i in range(ROUNDS):
                torch.cuda._sleep(cycles)
                x.fill_(i)
                found.append(fanin.sum(x, method="fast" if i % 2 else "exact"))
            found = torch.stack(found)
        side.synchronize()
        self.assertEqual(found.tolist(), [float(i << 16) for i in range(ROUNDS)])

    def test_interfaces(self):
        """Shows the memory as an array of a library that fanin does not know: the value comes to the host."""
        x = torch.arange(100, dtype=torch.float64, device="cuda")
        self.assertEqual(fanin.sum(Interface(x)), 4950.0)
        self.assertEqual(fanin.sum(Capsule(x)), 4950.0)
        self.assertEqual(fanin.sum(Interface(x.reshape(10, 10)), 0).tolist(), x.reshape(10, 10).sum(0).tolist())

    def test_graph(self):
        x = torch.ones(1000, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            side.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side):
                total = fanin.sum(x)
            x.fill_(2.0)
            graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(total.item(), 2000.0)

    def test_graph_without_an_earlier_call(self):
        """The first calls on a stream may be captured, of which the second needs more scratch than there is."""
        x = torch.ones(1000, device="cuda")
        rows = torch.ones(1 << 20, 4, device="cuda")
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        with torch.cuda.graph(graph, stream=side):
            total, variances = fanin.sum(x), fanin.variance(rows, 1)
        x.fill_(2.0)
        rows[:, :2] = 5.0
        graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(total.item(), 2000.0)
        self.assertEqual(set(variances.tolist()), {4.0})


class Interface:
    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = x.__cuda_array_interface__


class Capsule:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **arguments):
        arguments.pop("max_version", None)
        return self.x.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def cycles_of(seconds):
    """How many cycles torch's sleeping kernel takes for so long."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(10 ** 6)
    begin.record()
    torch.cuda._sleep(10 ** 7)
    end.record()
    torch.cuda.synchronize()
    return int(10 ** 7 * seconds * 1000 / begin.elapsed_time(end))


@unittest.skipUnless(HAS_CUPY_GPU, "CuPy is not installed, or has no GPU")
class CupyOnDevice(OfLibrary, unittest.TestCase):
    def make(self, numbers, dtype):
        return cupy.array(numbers).astype(dtype)

    def on_host(self, x):
        return cupy.asnumpy(x)

    def test_side_stream(self):
        x = cupy.zeros(1 << 20, "float32")
        side = cupy.cuda.Stream(non_blocking=True)
        code = "float b = a; for (long long k = 0; k < rounds; ++k) b = b * 0.5f + a * 0.5f; y = b"
        slow = cupy.ElementwiseKernel("float32 a, int64 rounds", "float32 y", code, "slow")
        cupy.cuda.Device().synchronize()
        found = []
        with side:
            for i in range(100):
                x.fill(0)
                slow(cupy.full(1 << 20, i, "float32"), 20000, x)
                found.append(fanin.sum(x))
        side.synchronize()
        self.assertEqual([float(total) for total in found], [float(i << 20) for i in range(100)])


if __name__ == "__main__":
    unittest.main()
