"""What a command was asked, before anything is computed: options as one object, refused where they make no sense.

Options that two commands share are declared once: in `options`, or as a class to extend, `PriorOptions` and
`ObjectiveOptions`. Commands come in, and hand on what is asked whole. A new option of `design` is a field in `design`;
what it can make is a member of `kind`, with the options it has a use for; a new objective on the command line is a
branch in `objective`.
"""
