"""What a sampler does, against what it claims: lower bounds of its privacy loss from its own reports.

`audit` is the door, for users and the command `audit`; it searches pairs of inputs and events, then tests them on
fresh reports. A new way of searching is a file that offers events; what is audited is known in `subjects`.
"""
