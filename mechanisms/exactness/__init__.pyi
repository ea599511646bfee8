from .verification import Verification as Verification
from .verification import require_proved as require_proved
