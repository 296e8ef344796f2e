"""The durable engine beside its floor: `penstock bench engine`."""
