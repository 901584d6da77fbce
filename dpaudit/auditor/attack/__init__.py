"""The attack on one claim: pilot, bets, a second look and the bound, each on runs of its own."""
