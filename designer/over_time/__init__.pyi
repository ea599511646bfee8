from .panel import design_panel as design_panel
from .panel import panel_shares as panel_shares
from .plan import WayPlan as WayPlan
from .plan import plan_over_time as plan_over_time
from .repeated import Repeated as Repeated
