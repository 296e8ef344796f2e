"""Object stores: buckets of S3 and folders, behind one narrow protocol. Libraries are loaded on first use.

Not here: which object starts a run (`sources.objects`).
"""
