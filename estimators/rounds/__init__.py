"""Files of different times: averages over them whose variances count users, and whether a join has one value a user.

A user's reports of several weeks depend on each other: values hardly change, and a remembered report is the same one.
`by_user` has averages of reports with the covariance that this gives them, `pooled` the reports of files of one table
taken together and how many of them are worth one. `one_value` asks the opposite: whether services that are joined have
measured one value of each user at all. `estimate_distribution` and `estimate_combined_mean` come in here.
"""
