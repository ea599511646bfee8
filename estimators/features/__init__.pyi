from .estimate import FeaturesEstimate as FeaturesEstimate
from .estimate import estimate_features as estimate_features
from .tables import IndependenceTest as IndependenceTest
from .tables import independence as independence
from .tables import odds_ratio as odds_ratio
