"""How large and how small numbers can be that depend linearly on weights which explain the data: bounds with proofs.

Who comes in wants an interval that assumes nothing of the weights but that they are no less than zero and sum to one.
`bounds` has them, from where the weights end that `paths` follows.
"""
