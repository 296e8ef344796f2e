"""`make trust`: everything that tries to break Penstock, and one table of what it tried."""
