from .ledger import GivenReports as GivenReports
from .ledger import Ledger as Ledger
from .periods import PeriodLife as PeriodLife
from .periods import PeriodReports as PeriodReports
from .periods import PeriodState as PeriodState
from .seals import new_ledger_key as new_ledger_key
