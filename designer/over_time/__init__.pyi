from .panel import design_panel as design_panel
from .panel import panel_shares as panel_shares
from .repeated import Repeated as Repeated
