from optldp.designer import Prior as Prior
from optldp.designer import bounds as bounds
from optldp.designer import compare as compare
from optldp.designer import design as design
from optldp.designer import two_phase as two_phase
from optldp.estimators import count as count
from optldp.estimators import estimate_distribution as estimate_distribution
from optldp.estimators import estimate_frequencies as estimate_frequencies
from optldp.estimators import estimate_mean as estimate_mean
from optldp.mechanisms import OptldpError as OptldpError
from optldp.mechanisms import Sampler as Sampler
from optldp.mechanisms import TabulatedMechanism as TabulatedMechanism
from optldp.mechanisms import frequency_oracle as frequency_oracle
from optldp.mechanisms import load_mechanism as load_mechanism
from optldp.mechanisms import make_exact as make_exact
from optldp.mechanisms import save_table as save_table
from optldp.mechanisms import verify as verify

from . import designer as designer
from . import estimators as estimators
from . import mechanisms as mechanisms
from . import solvers as solvers

__version__: str
