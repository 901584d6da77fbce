"""Ways of choosing: scores read exactly; proposals, races and coins whose outcomes are decided, never approximated."""
