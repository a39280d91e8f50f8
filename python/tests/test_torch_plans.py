# SPDX-License-Identifier: Apache-2.0
"""Calls of fanin.torch that were made before: their results, what they are kept by, and how much of Python they run."""

import sys
import threading
import unittest

try:
    import torch

    import fanin.torch
    from fanin.torch import _functions, _plans
    from torch_samples import of_fanin
except ImportError:
    torch = None

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


def plans_of(name):
    return _functions.ROWS[name].compute.plans


class PlansOfCalls(unittest.TestCase):
    CALLS = (("sum", (), {}), ("sum", (1,), {}), ("sum", ((0, 2), True), {}), ("sum", (), {"dtype": "f64"}),
             ("mean", (-1,), {}), ("mean", (), {"keepdim": True}), ("amax", (0,), {}), ("var", (), {}),
             ("std", (1,), {"correction": 0}), ("vector_norm", (2, 1), {}), ("logsumexp", (2,), {}),
             ("std_mean", (1,), {}))

    def test_second_call(self):
        """The second call has a plan and the bits of the first one, which had none."""
        for device in DEVICES:
            for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
                for name, args, named in self.CALLS:
                    for x in (torch.randn(5, 6, 7), torch.randn(7, 6, 5).transpose(0, 2), torch.randn(9, 6, 7)[2:7]):
                        x = x.to(device, dtype)
                        named = {key: torch.float64 if key == "dtype" else value for key, value in named.items()}
                        function, plans = of_fanin(name), plans_of(name)
                        has_none = name == "logsumexp" and x.element_size() == 2 or name == "std_mean" and not x.is_cuda
                        with self.subTest(device=device, dtype=dtype, name=name, args=args, named=named):
                            plans.clear()
                            first = function(x.clone(memory_format=torch.preserve_format), *args, **named)
                            self.assertEqual(len(plans), 1)
                            plan, = plans.values()
                            self.assertEqual(plan is None, has_none)
                            second = function(x, *args, **named)
                            self.assertEqual(len(plans), 1)
                            self.assertEqual(first.dtype, second.dtype)
                            self.assertTrue(torch.equal(first, second))
                            self.assertNotEqual(first.data_ptr(), second.data_ptr())

    def test_other_elements(self):
        """A plan is not for tensors of another type, shape, order, or for other arguments."""
        x = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        for _ in range(2):
            self.assertEqual(fanin.torch.sum(x, 0).tolist(), x.sum(0).tolist())
            self.assertEqual(fanin.torch.sum(x, 1).tolist(), x.sum(1).tolist())
            self.assertEqual(fanin.torch.sum(x, [0]).tolist(), x.sum(0).tolist())
            self.assertEqual(fanin.torch.sum(x, (0, 1)).item(), x.sum().item())
            self.assertEqual(fanin.torch.sum(x.t(), 0).tolist(), x.sum(1).tolist())
            self.assertEqual(fanin.torch.sum(x[:, ::2], 0).tolist(), x[:, ::2].sum(0).tolist())
            self.assertEqual(fanin.torch.sum(x.to(torch.float64), 0).dtype, torch.float64)
            self.assertEqual(fanin.torch.sum(x, 0, dtype=torch.float64).dtype, torch.float64)
            for count in (1, 2, 7, 24):
                self.assertEqual(fanin.torch.sum(x.reshape(-1)[:count]).item(), x.reshape(-1)[:count].sum().item())
            self.assertEqual(fanin.torch.sum(torch.complex(x, -x).conj().imag).item(), 276)  # negated lazily
            self.assertTrue(fanin.torch.var(x[:1, 0]).isnan())

    def test_unaligned(self):
        memory = bytearray(41)
        fanin.torch.sum(torch.ones(10))
        y = torch.frombuffer(memory, dtype=torch.float32, offset=1, count=10)
        self.assertNotEqual(y.data_ptr() % 4, 0)
        with self.assertRaisesRegex(fanin.Unsupported, "not aligned"):
            fanin.torch.sum(y)

    def test_gradients_and_modes(self):
        x = torch.ones(8, requires_grad=True)
        for _ in range(2):
            self.assertTrue(fanin.torch.sum(x).requires_grad)
            with torch.no_grad():
                self.assertFalse(fanin.torch.sum(x).requires_grad)
            self.assertEqual(torch.func.grad(fanin.torch.sum)(x.detach()).tolist(), [1] * 8)
            with torch.autocast("cpu", torch.bfloat16):
                self.assertEqual(fanin.torch.sum(x.detach().bfloat16()).dtype, torch.float32)
            self.assertEqual(fanin.torch.sum(x.detach().bfloat16()).dtype, torch.bfloat16)
            with torch.inference_mode():
                fanin.torch.sum(torch.ones(8), 0)
            self.assertEqual((fanin.torch.sum(torch.ones(8), 0) + x.sum()).item(), 16)

    def test_many_shapes(self):
        for count in range(1, _plans.MOST_PLANS + 100):
            fanin.torch.mean(torch.ones(count), 0)
        self.assertLessEqual(len(plans_of("mean")), _plans.MOST_PLANS)

    def test_threads(self):
        rows, wrong = [torch.full((3, 1000), float(i)) for i in range(4)], []

        def work(i):
            for _ in range(500):
                if fanin.torch.sum(rows[i], 1).tolist() != [1000.0 * i] * 3:
                    wrong.append(i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_steps_of_python(self):
        """How many functions of Python a call runs, which was made before: not those that look types and axes up."""
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.ones(16, 64, dtype=dtype)
            for call in (lambda: fanin.torch.sum(x), lambda: fanin.torch.sum(x, 1),
                         lambda: fanin.torch.vector_norm(x, dim=(0, 1), keepdim=True)):
                call()
                events = []
                sys.setprofile(lambda frame, event, argument: events.append(event) if event == "call" else None)
                try:
                    call()
                finally:
                    sys.setprofile(None)
                self.assertLessEqual(len(events), 6)


if __name__ == "__main__":
    unittest.main()
