// The path of AUM with one event per crossing in a std::set, the plain way the R package aum goes:
// the peer of aum_event_path.py. Lines must differ in intercept and slope.

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

extern "C" double follow(long n, const double *intercept, const double *slope, const double *fp_diff,
                         const double *fn_diff, long n_events, double *last_step) {
    std::vector<long> order(n);
    std::iota(order.begin(), order.end(), 0L);
    std::sort(order.begin(), order.end(),
              [&](long a, long b) { return intercept[a] < intercept[b]; });
    // Errors in the gap below every line, and the next event of every pair of neighbours.
    std::vector<double> fp(n + 1, 0.0), fn(n + 1, 0.0), meets(n, -1.0);
    for (long k = 0; k < n; k++) fn[0] -= fn_diff[k];
    for (long k = 0; k < n; k++) {
        fp[k + 1] = fp[k] + fp_diff[order[k]];
        fn[k + 1] = fn[k] + fn_diff[order[k]];
    }
    std::set<std::pair<double, long>> queue;
    auto renew = [&](long k, double now) {
        if (k < 0 || k + 1 >= n) return;
        if (meets[k] >= 0) queue.erase({meets[k], k});
        long a = order[k], b = order[k + 1];
        double closing = slope[a] - slope[b];
        meets[k] = closing > 0 ? (intercept[b] - intercept[a]) / closing : -1.0;
        if (meets[k] >= 0) queue.insert({meets[k] = std::max(meets[k], now), k});
    };
    auto rise = [&](long k) {
        return k < 1 || k >= n ? 0.0
                               : (slope[order[k]] - slope[order[k - 1]]) * std::min(fp[k], fn[k]);
    };
    double aum = 0.0, change = 0.0, step = 0.0;
    for (long k = 1; k < n; k++) {
        aum += (intercept[order[k]] - intercept[order[k - 1]]) * std::min(fp[k], fn[k]);
        change += rise(k);
    }
    for (long k = 0; k + 1 < n; k++) renew(k, 0.0);
    for (long done = 0; done < n_events && !queue.empty(); done++) {
        auto [next, k] = *queue.begin();
        aum += change * (next - step);
        step = next;
        change -= rise(k) + rise(k + 1) + rise(k + 2);
        std::swap(order[k], order[k + 1]);
        fp[k + 1] = fp[k] + fp_diff[order[k]];
        fn[k + 1] = fn[k] + fn_diff[order[k]];
        change += rise(k) + rise(k + 1) + rise(k + 2);
        renew(k, step);
        renew(k - 1, step);
        renew(k + 1, step);
    }
    *last_step = step;
    return aum;
}
