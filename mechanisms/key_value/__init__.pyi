from .choice import best_key_value as best_key_value
from .mechanism import KeyValueMechanism as KeyValueMechanism
