"""Bounds of a metric, given a problem: each form of metric has its own method.

`solve` chooses the method: linear metrics and ratios of them, any metric of two classes, metrics
of more classes, metrics that compare groups. `combine_draws` adds the uncertainty of a label
model, `difference_bound_pair` bounds a difference of two classifiers, `threshold_bounds` a metric
at every threshold of a score, and `exact_values`, `smoothed_values` and `crossfit_values` the
expectation of any function of item and truth. `solved_performance` and `solved_difference` solve a
problem and put the answer in order.
"""
