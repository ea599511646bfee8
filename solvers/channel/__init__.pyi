from .optimum import solve_channel as solve_channel
from .program import ChannelProgram as ChannelProgram
