"""Object sources: notifications, searches and watched folders start runs about objects.

One object event makes one run of each workflow that wants it.
The stores themselves are in `penstock.objects`.
"""
