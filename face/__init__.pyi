from . import designer as designer
from . import estimators as estimators
from . import mechanisms as mechanisms
from . import solvers as solvers
from .designer import Prior as Prior
from .designer import bounds as bounds
from .designer import compare as compare
from .designer import design as design
from .designer import two_phase as two_phase
from .estimators import count as count
from .estimators import estimate_distribution as estimate_distribution
from .estimators import estimate_frequencies as estimate_frequencies
from .estimators import estimate_mean as estimate_mean
from .mechanisms import OptldpError as OptldpError
from .mechanisms import Sampler as Sampler
from .mechanisms import TabulatedMechanism as TabulatedMechanism
from .mechanisms import frequency_oracle as frequency_oracle
from .mechanisms import load_mechanism as load_mechanism
from .mechanisms import make_exact as make_exact
from .mechanisms import save_table as save_table
from .mechanisms import verify as verify

__version__: str
