from .at_most import AtMost as AtMost
