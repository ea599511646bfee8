"""How far a linear number can move while data hardly notice, over weights of a declared class: moduli, each certified.

`polyhedron` has the classes, `largest` the one program and its certificate, `nearest` the weights of a class that
explain data best, `shortest` the proved shortest length of any honest interval. Who comes in has the class and a
matrix; what reports are is not known here.
"""
