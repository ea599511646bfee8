from .exact_levels import make_levels_exact as make_levels_exact
from .verification import Verification as Verification
from .verification import require_proved as require_proved
