"""The functions and operators that an expression may use, by the type of their arguments.

All are linear in their input and charge the meter.
Not here: workflows.
"""
