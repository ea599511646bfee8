from .counts import AttributeCounts as AttributeCounts
