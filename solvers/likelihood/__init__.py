"""Weights of known components under which counted observations are likeliest, with a certificate.

`fit` is the door for EM, SQUAREM and an interior point, which estimators come in by; the other files store the matrix
of probabilities in different ways behind one interface, `MixtureLikelihood`. A new way of storing is a file with two
products.
"""
