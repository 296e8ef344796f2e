"""Object stores: buckets of S3 and folders, behind one narrow protocol. Their libraries are loaded when one is used."""
