from .at_most import solve_at_most as solve_at_most
from .channel_program import ChannelProgram as ChannelProgram
from .free_outputs import solve_free_outputs as solve_free_outputs
from .line_bound import LinePrices as LinePrices
from .optimal_table import solve_channel as solve_channel
