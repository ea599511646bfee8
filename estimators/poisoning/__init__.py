"""What a poisoner can do: the most that one report moves an estimate, of means, frequencies and fitted distributions.

It reads decoders and fits of the rooms below, and designer and commands ask it. An estimator that is no average says
here what one of its reports can do, or is refused with the reason.
"""
