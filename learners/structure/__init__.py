"""What records look like without labels: principal directions, and centres of clusters."""
