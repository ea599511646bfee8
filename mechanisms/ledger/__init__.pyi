from .ledger import GivenReports as GivenReports
from .ledger import Ledger as Ledger
from .seals import new_ledger_key as new_ledger_key
