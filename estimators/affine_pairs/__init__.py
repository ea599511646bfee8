"""Honest intervals of numbers of a distribution: pairs of linear estimates with proved biases, and the shortest length.

`outcomes` has what reports say, `several_reports` those of users who sent more than one, `split` the few reports that
choose the estimates, `foretold` the fit that they are chosen at, `pair` the pair of one number, `intervals` the
intervals that a distribution asks for, `refuted` the test of what is assumed. Who comes in has counts; `distributions`
does.
"""
