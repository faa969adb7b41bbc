"""The compiled loop that cuts points into cells of equal size."""

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray


@compiled(part=True)
def swap(points: FloatArray, order: IntArray, i: int, j: int) -> None:
    """Exchange two points."""
    for c in range(points.shape[1]):
        points[i, c], points[j, c] = points[j, c], points[i, c]
    order[i], order[j] = order[j], order[i]


@compiled
def halved(points: FloatArray, order: IntArray, start: int, end: int, axis: int) -> int:
    """Reorder points by one coordinate around their median; return where the second half starts.

    Points with the same coordinate stay together, so that the halves depend on no order. The
    coordinate is not the same for all.
    """
    middle = (start + end) // 2
    # Quickselect (Hoare 1961): afterwards no point before the middle is greater than one after.
    left, right = start, end - 1
    while left < right:
        a, b, c = points[left, axis], points[(left + right) // 2, axis], points[right, axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                swap(points, order, i, j)
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    median = points[middle, axis]
    before = middle  # points equal to the median move next to it, from both sides
    for i in range(middle - 1, start - 1, -1):
        if points[i, axis] == median:
            before -= 1
            swap(points, order, i, before)
    after = middle + 1
    for i in range(middle + 1, end):
        if points[i, axis] == median:
            swap(points, order, i, after)
            after += 1
    if before == start or (after < end and after - middle < middle - before):
        return after
    return before


@compiled
def cut_into_cells(points: FloatArray, order: IntArray, levels: int) -> IntArray:
    """Reorder points (n, d) and ``order`` (n,) by cell; return where each cell starts.

    A k-d tree (Bentley 1975): a cell is cut at the median of the coordinate in which it is widest,
    ``levels`` times at most, and not where all its points are the same.
    """
    n, d = points.shape
    starts = np.empty(min(n, 1 << levels), np.int64)
    stack = np.empty((levels + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
    count, height = 0, 1
    while height > 0:
        height -= 1
        start, end, level = stack[height, 0], stack[height, 1], stack[height, 2]
        widest, axis = 0.0, 0
        if level < levels:
            for c in range(d):
                low = high = points[start, c]
                for i in range(start + 1, end):
                    low, high = min(low, points[i, c]), max(high, points[i, c])
                if high - low > widest:
                    widest, axis = high - low, c
        if widest == 0.0:
            starts[count] = start
            count += 1
            continue
        middle = halved(points, order, start, end, axis)
        # The earlier half is cut first, so that cells come out in order.
        stack[height, 0], stack[height, 1], stack[height, 2] = middle, end, level + 1
        stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 2] = start, middle, level + 1
        height += 2
    return starts[:count]
