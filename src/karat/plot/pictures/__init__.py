"""One function for each kind of result, which draws it on given or new axes.

A module holds the pictures of one package's results. `karat.plot.draw` looks them up by the name of
the result's class; colours, markers and quiet axes come from `karat.plot.style`.
"""
