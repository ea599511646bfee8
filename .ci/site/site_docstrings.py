"""What griffe, which reads the docstrings for the reference, is told of them."""

from docstring_text import in_numpydoc
from griffe import Alias, Extension, Object


class HouseSections(Extension):
    """Rename examples as griffe knows them, and keep remarks from being read as items of the section above."""

    def on_object(self, *, obj: Object | Alias, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = in_numpydoc(obj.docstring.value)
