from .local_hashing import LocalHashing as LocalHashing
from .projective_geometry import ProjectiveGeometry as ProjectiveGeometry
from .subset_selection import SubsetSelection as SubsetSelection
from .table import CategoricalTable as CategoricalTable
from .table import categorical_grr as categorical_grr
from .unary_encoding import UnaryEncoding as UnaryEncoding
from .unary_encoding import basic_rappor as basic_rappor
from .unary_encoding import optimised_unary as optimised_unary
