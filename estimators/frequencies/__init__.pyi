from .consistency import base_cut as base_cut
from .consistency import iiw as iiw
from .consistency import norm_sub as norm_sub
from .decoder import frequency_decoder as frequency_decoder
from .queries import estimate_category_queries as estimate_category_queries
from .versions import join_frequencies as join_frequencies
