"""A page to design in, on this machine alone: values, question, mechanism, a trial, and what one takes away.

`state` is what a reader has chosen and all that an address ever holds. `answers` turns it and a prior into numbers,
`trial` simulates people, `charts` draws both and `taking` writes what reproduces them; none of these knows the page.
`page` lays them out with NiceGUI, and `server` shows it to one reader. What may be asked is an entry of `questions`.
"""
