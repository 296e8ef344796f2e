"""Object sources: notifications, searches and watched folders start runs about objects.

One object event makes one run of each workflow that matches it.
Not here: the stores themselves (`penstock.objects`).
"""
