"""The functions that build a `PrivacyLoss`, by what they price."""
