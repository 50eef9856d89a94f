"""The abstract lists that come along, a package so that they are found when Plenary is installed."""
