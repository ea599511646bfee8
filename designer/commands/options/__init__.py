"""What a command was asked, before anything is computed: options as one object, refused where they make no sense.

Commands come in, and hand on what is asked whole; options that several share are classes to extend, `PriorOptions` and
`ObjectiveOptions`. A new option of `design` is a field in `design`, what it can make a member of `kind` with the
options it has a use for, and an objective an entry of the registry of `objectives`. Where an option stands in help is
for `panels`.
"""
