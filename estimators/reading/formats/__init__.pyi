from .overrides import read_as as read_as
