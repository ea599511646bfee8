"""What commands do with a way of collecting over time: reports of one period, estimates from files of many, plans.

Commands hand over here once they see that they were given a way, or --periods.
"""
