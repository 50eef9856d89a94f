"""The prompt files, a package so that they are found when Plenary is installed."""
