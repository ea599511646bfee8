from .clips import ClipCurve as ClipCurve
from .clips import clip_curve as clip_curve
