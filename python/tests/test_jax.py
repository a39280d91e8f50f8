# SPDX-License-Identifier: Apache-2.0
"""fanin.jax beside the package and beside JAX: values, gradients, jit and vmap, and what is refused."""

import doctest
import math
import os
import pathlib
import re
import unittest

from support import exact_sum, wide_numbers

try:
    import jax
    import jax.numpy as jnp
    import numpy
    from jax.test_util import check_grads

    import fanin.jax
    from fanin.jax import _functions
except ImportError as error:
    jax, missing = None, str(error)


README = os.environ.get("FANIN_README")


def setUpModule():
    if jax is None:
        raise unittest.SkipTest(missing)
    jax.config.update("jax_enable_x64", True)


def numbers(*shape, dtype="float64", seed=1):
    """Numbers of different sizes, none of which is near 0: derivatives exist at all of them."""
    count = math.prod(shape)
    order = numpy.random.default_rng(seed).permutation(count)
    return jnp.asarray(((order + 0.5) / count * 3 - 1.39).reshape(shape), dtype)


def calls():
    """The functions beside those of the package with the same results."""
    f, norms = fanin.jax, {1: fanin.sum_of_magnitudes, 2: fanin.norm2, math.inf: fanin.max_magnitude}
    pairs = [(f.sum, fanin.sum), (f.mean, fanin.mean), (f.logsumexp, fanin.log_sum_exp)]
    return pairs + [((lambda x, axis=None, keepdims=False, order=order: f.norm(x, order, axis, keepdims)), other)
                    for order, other in norms.items()]


class Functions(unittest.TestCase):
    def test_values(self):
        """The values have the bits of the package, eager and under jit."""
        x = jnp.asarray(numpy.array(wide_numbers(60, 5, 10)).reshape(3, 4, 5))
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            elements = x.clip(-200, 200).astype(dtype) if dtype == "float16" else x.astype(dtype)
            for function, other in calls():
                for axis in (None, 0, -1, (0, 2)):
                    for keepdims in (False, True):
                        with self.subTest(dtype=dtype, axis=axis, other=other.__name__):
                            expected = other(numpy.asarray(elements).astype("float64"), axis, keepdims=keepdims)
                            found = function(elements, axis, keepdims)
                            again = jax.jit(lambda x: function(x, axis, keepdims))(elements)
                            self.assertEqual((found.dtype, found.shape), (dtype, numpy.shape(expected)))
                            if dtype in ("float32", "float64"):
                                expected = other(numpy.asarray(elements), axis, keepdims=keepdims)
                            # Its bits depend on the machine, and results of 16 bits are rounded twice.
                            if other is not fanin.log_sum_exp or dtype == "float64" and jax.default_backend() == "cpu":
                                self.assertEqual(found.tolist(), jnp.asarray(expected, dtype).tolist())
                            self.assertEqual(found.tolist(), again.tolist())

    def test_exact(self):
        x = jnp.asarray(wide_numbers(1000, 7))
        self.assertEqual(fanin.jax.sum(x).item(), exact_sum(x.tolist()))
        if jax.default_backend() == "cpu":
            self.assertEqual(fanin.jax.sum(x, method="fast").item(), fanin.sum(numpy.asarray(x), method="fast"))

    def test_gradients(self):
        x = numbers(3, 4, 5)
        for function, _ in calls():
            for axis in (None, 1, (0, 2)):
                check_grads(lambda x: function(x, axis), (x,), order=2, modes=["rev"])
        self.assertEqual(jax.grad(fanin.jax.norm)(jnp.zeros(3)).tolist(), [0, 0, 0])
        self.assertEqual(jax.grad(lambda x: fanin.jax.norm(x, math.inf))(jnp.array([2.0, -2, 1])).tolist(),
                         [0.5, -0.5, 0])
        self.assertEqual(jax.jit(jax.grad(fanin.jax.mean))(jnp.ones(4, "bfloat16")).tolist(), [0.25] * 4)

    def test_vmap(self):
        x = numbers(3, 4, 5)
        for function, _ in calls():
            for axis in (None, 1):
                found = jax.vmap(lambda x: function(x, axis), in_axes=1)(x)
                expected = jnp.stack([function(x[:, i], axis) for i in range(4)])
                self.assertEqual(found.tolist(), expected.tolist())
            rows = jax.vmap(jax.grad(lambda x: function(x)))(x)
            self.assertEqual(rows.tolist(), [jax.grad(lambda x: function(x))(part).tolist() for part in x])

    def test_edges(self):
        self.assertEqual(fanin.jax.sum(jnp.zeros((0, 3)), 0).tolist(), [0, 0, 0])
        self.assertTrue(jnp.isnan(fanin.jax.mean(jnp.zeros(0))))
        self.assertEqual(fanin.jax.logsumexp(jnp.zeros(0)), -math.inf)
        self.assertEqual(fanin.jax.sum(jnp.float32(3)), 3)
        self.assertEqual(fanin.jax.sum(jnp.ones((2, 3)), ()).tolist(), [[1, 1, 1]] * 2)
        self.assertEqual(jax.grad(fanin.jax.logsumexp)(jnp.full(2, -math.inf)).tolist(), [0, 0])

    def test_refused(self):
        for call, words in ((lambda: fanin.jax.sum(jnp.arange(3)), "takes floats"),
                            (lambda: fanin.jax.sum(jnp.ones(3), 1), "no axis 1"),
                            (lambda: fanin.jax.sum(jnp.ones((3, 3)), (0, 0)), "named twice"),
                            (lambda: fanin.jax.norm(jnp.ones(3), 3), "1, 2 or inf"),
                            (lambda: fanin.jax.sum(jnp.ones(3), method="best"), "no method 'best'"),
                            (lambda: fanin.jax.segment_sum(jnp.ones(3), jnp.ones(3), 2), "int32 or int64"),
                            (lambda: fanin.jax.segment_sum(jnp.ones(3), jnp.arange(2), 2), "as long as")):
            with self.assertRaisesRegex(fanin.Error, words):
                call()
        with self.assertRaisesRegex(Exception, "compensated"):  # of XLA, with the sentence of the library
            jax.block_until_ready(  # A call on a device returns before it is refused.
                _functions.called("fanin_reduce", "log_sum_exp", "compensated", jnp.float32, (),
                                  jnp.ones(3, "float32"), axes=numpy.array([-1])))


class Graphs(unittest.TestCase):
    def test_independent_calls(self):
        """Calls that a CUDA graph may run at the same time have the bits of a CPU."""
        if jax.default_backend() != "gpu":
            self.skipTest("JAX has no GPU")
        functions = (fanin.jax.sum, fanin.jax.mean, fanin.jax.norm,
                     lambda x: fanin.jax.segment_sum(x, jnp.arange(x.size, dtype="int32") % 1000, 1000))

        def independent_calls(arrays):
            return [functions[i % len(functions)](x) for i, x in enumerate(arrays)]

        arrays = [numpy.array(wide_numbers(100_003, seed), "float32") for seed in range(20)]
        cpu = jax.jit(independent_calls)(jax.device_put(arrays, jax.devices("cpu")[0]))
        expected = [x.tolist() for x in cpu]
        arrays = jax.device_put(arrays)
        all_in_graph = {"xla_gpu_graph_min_graph_size": 1}
        for options in ({}, all_in_graph, {**all_in_graph, "xla_gpu_command_buffer_scheduling_mode": "CONCURRENT"}):
            function = jax.jit(independent_calls, compiler_options=options)
            for repetition in range(100):
                with self.subTest(options=options, repetition=repetition):
                    self.assertEqual([x.tolist() for x in function(arrays)], expected)


class Documents(unittest.TestCase):
    @unittest.skipIf(README is None, "FANIN_README is not set")
    def test_page(self):
        page = pathlib.Path(README).parent.parent / "docs" / "jax.md"
        code = re.search("```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S).group(1)
        for text in (code, fanin.jax.__doc__):
            test = doctest.DocTestParser().get_doctest(text, {}, "jax", None, 0)
            self.assertEqual(doctest.DocTestRunner().run(test).failed, 0)
            self.assertGreater(len(test.examples), 1)


class Segments(unittest.TestCase):
    KEYS = [2, 0, 2, 7, -1, 1, 0]

    def test_values(self):
        keys = jnp.array(self.KEYS)
        for dtype in ("bfloat16", "float32", "float64"):
            for shape in ((7,), (7, 3), (7, 2, 3)):
                x = numbers(*shape, dtype=dtype)
                found = fanin.jax.segment_sum(x, keys, 4)
                self.assertEqual((found.shape, found.dtype), ((4, *shape[1:]), dtype))
                for group in range(4):
                    members = [i for i, key in enumerate(self.KEYS) if key == group]
                    expected = fanin.jax.sum(x[jnp.array(members, int)], 0)
                    self.assertEqual(found[group].tolist(), expected.tolist())
                jitted = jax.jit(lambda x, keys: fanin.jax.segment_sum(x, keys, 4))(x, keys.astype("int32"))
                self.assertEqual(jitted.tolist(), found.tolist())

    def test_order(self):
        x, keys = jnp.asarray(wide_numbers(3000, 5)).reshape(1000, 3), jnp.arange(1000) % 7
        order = numpy.random.default_rng(2).permutation(1000)
        self.assertEqual(fanin.jax.segment_sum(x, keys, 7).tolist(),
                         fanin.jax.segment_sum(x[order], keys[order], 7).tolist())

    def test_gradients_and_vmap(self):
        x, keys = numbers(7, 3), jnp.array(self.KEYS)
        check_grads(lambda x: fanin.jax.segment_sum(x, keys, 4) ** 2, (x,), order=2, modes=["rev"])
        self.assertEqual(jax.vmap(lambda x: fanin.jax.segment_sum(x, keys, 4), 1, 1)(x).tolist(),
                         fanin.jax.segment_sum(x, keys, 4).tolist())
        self.assertEqual(fanin.jax.segment_sum(x, keys, 0).shape, (0, 3))
        self.assertEqual(fanin.jax.segment_sum(x[:0], keys[:0], 2).tolist(), [[0, 0, 0]] * 2)


if __name__ == "__main__":
    unittest.main()
