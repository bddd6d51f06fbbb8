"""Controller of Matsuoka oscillators on joints or cables."""
