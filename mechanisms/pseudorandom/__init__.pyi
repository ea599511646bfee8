from .reports import KeyedReports as KeyedReports
from .secret import Secret as Secret
from .secret import new_secret as new_secret
from .secret import read_secret as read_secret
from .secret import secret_of as secret_of
