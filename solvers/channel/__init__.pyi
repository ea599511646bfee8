from .at_most import solve_at_most as solve_at_most
from .optimum import solve_channel as solve_channel
from .program import ChannelProgram as ChannelProgram
