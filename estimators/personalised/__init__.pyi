from .auem import auem_variance as auem_variance
