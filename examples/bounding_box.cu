// SPDX-License-Identifier: Apache-2.0
// An accumulator of your own over device memory: the box around points in the plane.
#include <cstdio>
#include <vector>

#include <fanin/fold.cuh>

struct point {
  float x, y;
};

struct box {
  float left, right, bottom, top;
};

struct bounding_box {
  using element = point;
  using state = box;
  using result = box;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static state identity() { return {INFINITY, -INFINITY, INFINITY, -INFINITY}; }
  FANIN_HOST_DEVICE static void add(state& s, const element& p) { merge(s, {p.x, p.x, p.y, p.y}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s = {fminf(s.left, other.left), fmaxf(s.right, other.right), fminf(s.bottom, other.bottom),
         fmaxf(s.top, other.top)};
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s;
  }
};

int main() {
  std::vector<point> points(1000003);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {static_cast<float>(i % 1000), static_cast<float>(i * 7 % 777) - 100};
  }
  const box host = fanin::fold<bounding_box>(points).value;
  std::printf("host: [%g, %g] x [%g, %g]\n", host.left, host.right, host.bottom, host.top);
  bool right = host.left == 0 && host.right == 999 && host.bottom == -100 && host.top == 670;

  if (fanin::find_backend("cuda").probe().usable()) {
    point* there = nullptr;
    const std::size_t bytes = points.size() * sizeof(point);
    if (cudaMalloc(&there, bytes) != cudaSuccess) return 1;
    if (cudaMemcpy(there, points.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
    fanin::device_context context;
    const box device = fanin::fold<bounding_box>(there, points.size(), context).value;
    std::printf("device: [%g, %g] x [%g, %g]\n", device.left, device.right, device.bottom, device.top);
    right = right && device.left == host.left && device.right == host.right && device.bottom == host.bottom &&
            device.top == host.top;
    cudaFree(there);
  }
  return right ? 0 : 1;
}
