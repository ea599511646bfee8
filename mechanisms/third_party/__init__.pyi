from .adoption import adopt as adopt
from .seeded_hashing import SeededHashing as SeededHashing
from .written import Written as Written
