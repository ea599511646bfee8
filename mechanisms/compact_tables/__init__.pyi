from .floor_and_windows import FloorForm as FloorForm
from .making import floor_form as floor_form
from .making import form_over as form_over
