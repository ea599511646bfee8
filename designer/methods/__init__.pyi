from .base import Built as Built
from .base import Method as Method
from .closed_form import ClosedForm as ClosedForm
from .few_outputs import FewOutputs as FewOutputs
