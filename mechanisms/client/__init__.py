"""What runs where the value is: samplers, budget tokens, a client of one report, and an account of those that failed.

The room needs numpy alone and is the last of the mechanisms: nothing below may know of it. A new kind of client is a
file here that asks for proved tables and gives away nothing but reports.
"""
