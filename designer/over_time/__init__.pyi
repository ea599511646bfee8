from .panel import design_panel as design_panel
from .panel import panel_shares as panel_shares
from .plan import WayPlan as WayPlan
from .plan import plan_over_time as plan_over_time
from .protocols import Longitudinal as Longitudinal
from .protocols import longitudinal as longitudinal
from .repeated import Repeated as Repeated
