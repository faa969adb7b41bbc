"""What all procedures are made of: asking and telling, saving and resuming, and the result.

`Procedure` is the base of the procedures at the top of the package: it drives one of three
strategies and builds the result. `SlopeProcedure` is the base of those that find a metric from its
slopes at several places, and `GroupProcedure` of those that compare groups. ``report`` says what
metrics of a procedure amount to, ``named_metric`` gives one the names of its classes,
``typical_margin`` says what differences they see, and ``procedure_named`` finds a procedure by its
name.
"""
