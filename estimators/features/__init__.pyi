from .estimate import FeaturesEstimate as FeaturesEstimate
from .estimate import estimate_features as estimate_features
