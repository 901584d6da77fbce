"""Halfspaces with a large margin: learners on unit records with few columns, and what no private learner can do."""
