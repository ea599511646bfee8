"""What a command was asked, before anything is computed: options as one object, refused where they make no sense.

Commands come in, and hand on what is asked whole; options that several share are classes to extend, `PriorOptions` and
`ObjectiveOptions`. A new option of `design` is a field in `design`, what it can make a member of `kind` with the
options it has a use for, an objective on the command line a branch in `objective`. Where an option stands in help is
for `panels`.
"""
