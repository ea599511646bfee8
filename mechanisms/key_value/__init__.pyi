from .choice import best_key_value as best_key_value
from .mechanism import KeyValueMechanism as KeyValueMechanism
from .response import key_value_response as key_value_response
from .unary import key_value_unary as key_value_unary
