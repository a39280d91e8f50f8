# SPDX-License-Identifier: Apache-2.0
"""The operators of fanin.torch on streams of a GPU: graphs, memory of PyTorch's allocator, and backward's thread."""

import unittest

try:
    import torch

    import fanin
    import fanin.torch
except ImportError:
    torch = None


def setUpModule():
    if torch is None or not torch.cuda.is_available():
        raise unittest.SkipTest("torch is not installed, or has no GPU")


class OnStreams(unittest.TestCase):
    def test_graph(self):
        """A graph of calls that were not made before has the results of new elements, and memory of its own."""
        x, keys = torch.ones(300, 70, device="cuda"), torch.arange(300, device="cuda") % 9
        leaf = torch.ones(300, 70, device="cuda", requires_grad=True)

        def calls():
            return (fanin.torch.sum(x), fanin.torch.mean(x, 0), fanin.torch.var(x, 1), fanin.torch.logsumexp(x, 1),
                    fanin.torch.argmax(x, 1), fanin.torch.index_add(x[:9], 0, keys, x),
                    fanin.torch.scatter_add(x[:9], 0, keys.unsqueeze(1).expand(300, 70), x),
                    torch.autograd.grad(fanin.torch.var(leaf, 1).sum(), leaf)[0],
                    fanin.torch.total_norm([x, x[0]]))
        pairs = []
        for _ in range(2):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                pairs.append((graph, torch.cuda.Stream(), calls()))
        for _ in range(20):
            x.copy_(torch.randn(300, 70, device="cuda"))
            torch.cuda.synchronize()
            for graph, stream, _ in pairs:  # at the same time
                with torch.cuda.stream(stream):
                    graph.replay()
            torch.cuda.synchronize()
            expected = calls()
            for _, _, found in pairs:
                for captured, called in zip(found, expected):
                    self.assertTrue(torch.equal(captured, called))

    def test_memory(self):
        """PyTorch's statistics count the workspace of a stream, and the memory of a graph ends with the graph."""
        x = torch.ones(1 << 20, device="cuda")
        before = torch.cuda.memory_allocated()
        with torch.cuda.stream(torch.cuda.Stream()):
            fanin.torch.sum(x)
        self.assertGreater(torch.cuda.memory_allocated() - before, 1 << 20)
        before = torch.cuda.memory_allocated()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            total = fanin.torch.sum(x)
        graph.replay()
        self.assertEqual(total.item(), 1 << 20)
        self.assertLessEqual(torch.cuda.memory_allocated() - before, 1 << 12)

    def test_out_of_memory(self):
        """Where PyTorch's allocator is full, a call has PyTorch's error. The next call has a right result."""
        x, total = torch.ones(1 << 20, device="cuda"), torch.cuda.get_device_properties(0).total_memory
        for has_room_for_result in (False, True):
            with torch.cuda.stream(torch.cuda.Stream()):
                kept = torch.empty(1, device="cuda") if has_room_for_result else None
                torch.cuda.empty_cache()
                torch.cuda.set_per_process_memory_fraction(torch.cuda.memory_reserved() / total)
                try:
                    with self.assertRaises(torch.OutOfMemoryError) as raised:
                        fanin.torch.sum(x)
                finally:
                    torch.cuda.set_per_process_memory_fraction(1.0)
                if has_room_for_result:  # for the workspace there is none
                    self.assertIsInstance(raised.exception, fanin.OutOfMemory)
                self.assertEqual(fanin.torch.sum(x).item(), 1 << 20)
                del kept

    def test_backward_of_another_thread(self):
        """Gradients on a device are computed in a thread of PyTorch's, on the stream of the forward call."""
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                x = torch.randn(1000, 33, device="cuda", requires_grad=True)
                found, = torch.autograd.grad(fanin.torch.std(x, 1).sum(), x)
            stream.synchronize()
            y = x.detach().cpu().requires_grad_()
            expected, = torch.autograd.grad(fanin.torch.std(y, 1).sum(), y)
            torch.testing.assert_close(found.cpu(), expected)


if __name__ == "__main__":
    unittest.main()
