from .queries import QueriesEstimate as QueriesEstimate
from .queries import estimate_queries as estimate_queries
