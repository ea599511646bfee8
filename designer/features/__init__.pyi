from .association import design_association as design_association
from .design import FeaturesDesign as FeaturesDesign
from .design import people_of as people_of
from .groups import design_groups as design_groups
from .pilot import Pilot as Pilot
from .regression import design_regression as design_regression
from .split import split_variance as split_variance
from .table import design_table as design_table
